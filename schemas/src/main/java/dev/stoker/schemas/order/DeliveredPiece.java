package dev.stoker.schemas.order;

/**
 * A piece as it is delivered under a tail policy.
 *
 * @param lane the lane
 * @param firstRow the place of the first row in the lane's epoch
 * @param rows how many rows, at least 1
 * @param repeated whether these rows are delivered elsewhere in the epoch too, and stand here only to keep ranks even
 */
public record DeliveredPiece(int lane, long firstRow, int rows, boolean repeated) {
    public DeliveredPiece {
        if (lane < 0 || firstRow < 0 || rows < 1) {
            throw new IllegalArgumentException("no piece: lane " + lane + ", first row " + firstRow + ", rows " + rows);
        }
    }
}

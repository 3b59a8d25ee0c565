package dev.stoker.schemas.order.delivery;

/**
 * Describes a piece as it is delivered under a tail policy.
 *
 * @param lane the lane
 * @param firstRow index of the first row in the lane's epoch
 * @param rows number of rows, at least 1
 * @param repeated whether these rows are also delivered elsewhere in the epoch, and only keep the ranks even here
 */
public record DeliveredPiece(int lane, long firstRow, int rows, boolean repeated) {
    public DeliveredPiece {
        if (lane < 0 || firstRow < 0 || rows < 1) {
            throw new IllegalArgumentException("no piece: lane " + lane + ", first row " + firstRow + ", rows " + rows);
        }
    }
}

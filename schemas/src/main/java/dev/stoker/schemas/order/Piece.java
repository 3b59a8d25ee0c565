package dev.stoker.schemas.order;

/**
 * Describes a part of a batch: consecutive rows of one lane's epoch.
 *
 * @param lane the lane
 * @param firstRow index of the first row in the lane's epoch
 * @param rows number of rows, at least 1
 */
public record Piece(int lane, long firstRow, int rows) {
    public Piece {
        if (lane < 0 || firstRow < 0 || rows < 1) {
            throw new IllegalArgumentException("no piece: lane " + lane + ", first row " + firstRow + ", rows " + rows);
        }
    }
}

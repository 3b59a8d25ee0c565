package dev.stoker.schemas.order.delivery;

import java.util.List;

/**
 * Describes the batch that a virtual number delivers.
 *
 * @param number the virtual number, unique within a subscription's epoch
 * @param physical the batch of the epoch that the number delivers
 * @param pieces the pieces, in the order of their rows
 */
public record DeliveredBatch(long number, long physical, List<DeliveredPiece> pieces) {
    public DeliveredBatch {
        pieces = List.copyOf(pieces);
    }

    /** Rows in all pieces. */
    public int rows() {
        return pieces.stream().mapToInt(DeliveredPiece::rows).sum();
    }

    /** Rows in repeated pieces; {@code batch.repeated} of the Python package. */
    public int repeatedRows() {
        return pieces.stream()
                .filter(DeliveredPiece::repeated)
                .mapToInt(DeliveredPiece::rows)
                .sum();
    }
}

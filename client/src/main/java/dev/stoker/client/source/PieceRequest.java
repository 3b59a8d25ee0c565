package dev.stoker.client.source;

import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.Piece;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.util.ArrayList;
import java.util.List;

/**
 * A piece of a batch to take from a topic: the first rows of a lane's part of a physical batch. Pure.
 *
 * @param lane the lane
 * @param batch the physical batch
 * @param rows the wanted rows
 * @param of the lane's rows in the batch
 * @param isRepeated whether these rows are also delivered elsewhere in the epoch
 */
public record PieceRequest(int lane, long batch, int rows, int of, boolean isRepeated) {
    /** The parts of a virtual number; the same pieces as {@code Delivery.batch} names. */
    public static List<PieceRequest> of(EpochNumbering numbering, TailPolicy tail, long number) {
        EpochSize size = numbering.size();
        long physical = tail == TailPolicy.PAD ? number % size.batches() : number;
        boolean isAgain = number >= size.batches();
        List<PieceRequest> requests = new ArrayList<>();
        int missing = size.batchSize();
        for (Piece piece : numbering.batch(physical)) {
            requests.add(new PieceRequest(piece.lane(), physical, piece.rows(), piece.rows(), isAgain));
            missing -= piece.rows();
        }
        List<Piece> first = tail == TailPolicy.PAD && missing > 0 ? numbering.batch(0) : List.of();
        for (int i = 0; !first.isEmpty() && missing > 0; i = (i + 1) % first.size()) {
            Piece piece = first.get(i);
            requests.add(new PieceRequest(piece.lane(), 0, Math.min(piece.rows(), missing), piece.rows(), true));
            missing -= Math.min(piece.rows(), missing);
        }
        return requests;
    }

    /** The position of its first record. */
    public RecordPosition position(long epoch) {
        return RecordPosition.batch(epoch, batch);
    }
}

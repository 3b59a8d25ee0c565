package dev.stoker.server.session.receipts;

import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.delivery.DeliveredBatch;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.text.Units;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.window.GroupOrder;
import org.jspecify.annotations.Nullable;

/**
 * Compares receipts with the order: the ledger takes what passes without another look. Receipts of an earlier
 * connection name numbers of an earlier subscription, perhaps of an earlier epoch, so that the bounds are those of the
 * epoch. For the session's reader thread.
 */
public final class ReceiptCheck {

    private final Identity identity;
    private @Nullable GroupOrder order;
    private @Nullable EpochNumbering numbering;
    private long epoch = -1;
    private @Nullable TailPolicy tail;
    /** The batch of the entry before; the pieces of a batch follow one another. */
    private @Nullable DeliveredBatch batch;

    ReceiptCheck(Identity identity) {
        this.identity = identity;
    }

    /**
     * The first slot behind those that a trainer may ask for or acknowledge.
     *
     * @param stride world size times workers
     */
    public static long end(EpochSize size, SkippedBatches skipped, TailPolicy tail, long stride) {
        long left = skipped.isEmpty() ? size.batches() : skipped.left();
        return switch (tail) {
            case PAD -> left == 0 ? 0 : left + stride;
            case DROP -> skipped.wholeBatches(size);
            case KEEP -> left;
        };
    }

    /**
     * Refuses a receipt that the trainer cannot have.
     *
     * @param of the order of the frame's epoch
     * @param i the entry
     * @param skipped the batches of that epoch that the trainer leaves out
     * @param how the tail under which the batch was delivered
     */
    public void check(Ack ack, int i, GroupOrder of, SkippedBatches skipped, TailPolicy how) throws ProtocolException {
        long number = ack.number(i);
        EpochSize size = of.order().size();
        long end = end(size, skipped, how, (long) identity.worldSize() * identity.workers());
        long slot = skipped.slot(number);
        if (slot >= end || skipped.contains(number)) {
            throw bad("number " + number + " is past the end of epoch " + ack.epoch()
                    + ", or is skipped: the epoch has " + end + " numbers (tail " + how + ")");
        }
        long rank = slot % identity.worldSize();
        if (rank != identity.rank()) {
            throw bad("number " + number + " is one of rank " + rank + ", this is rank " + identity.rank());
        }
        DeliveredBatch delivered = delivered(of, ack.epoch(), how, number);
        int index = ack.piece(i);
        if (index >= delivered.pieces().size()) {
            throw bad("number " + number + " has no piece " + index + ": the order says "
                    + Units.plural(delivered.pieces().size(), "piece"));
        }
        DeliveredPiece piece = delivered.pieces().get(index);
        if (ack.rows(i) + ack.skipped(i) != piece.rows() || ack.repeated(i) != piece.repeated()) {
            throw bad("number " + number + " piece " + index + " has " + Units.plural(ack.rows(i), "row") + " and "
                    + Units.count(ack.skipped(i))
                    + " skipped, repeated " + ack.repeated(i) + ": the order says " + piece.rows()
                    + " together, repeated " + piece.repeated());
        }
        if (ack.sourceRows(i) != ack.rows(i)) {
            throw bad("number " + number + " piece " + index + " has " + Units.plural(ack.rows(i), "row")
                    + " made from " + Units.count(ack.sourceRows(i)) + ": expected as many");
        }
    }

    private DeliveredBatch delivered(GroupOrder of, long ofEpoch, TailPolicy how, long number) {
        if (numbering == null || of != order || ofEpoch != epoch) {
            order = of;
            epoch = ofEpoch;
            // Not one of the order's own: an epoch that nobody reads would displace one that is read.
            numbering = new EpochNumbering(of.spec(), of.order().laneRows(), ofEpoch);
            batch = null;
        }
        if (batch == null || batch.number() != number || tail != how) {
            tail = how;
            batch = Delivery.batch(numbering, how, number);
        }
        return batch;
    }

    private static ProtocolException bad(String message) {
        return new ProtocolException(ErrorCode.BAD_FRAME, "ACK: " + message);
    }
}

package dev.stoker.server.session;

import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.delivery.BatchNumbers;
import dev.stoker.schemas.order.delivery.DeliveredBatch;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.session.receipts.ReceiptCheck;
import dev.stoker.server.window.GroupOrder;
import dev.stoker.server.window.PieceKey;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * What a trainer asked for, and how far it was sent. The cursor belongs to the sender thread, the grant to the send
 * queue's lock; the rest is immutable.
 */
final class Subscription {
    private final Subscribe asked;
    private final BatchNumbers numbers;
    private final EpochOrder epoch;
    private final View view;
    /** Lanes asked for, or null for all. */
    private final @Nullable BitSet lanes;

    /** The greatest number that may be sent; guarded by the send queue. */
    long through = -1;

    private long step;
    private @Nullable DeliveredBatch batch;
    private int piece;
    private long rowsSent;
    private boolean endTold;

    private Subscription(Subscribe asked, BatchNumbers numbers, EpochOrder epoch, View view, @Nullable BitSet lanes) {
        this.asked = asked;
        this.numbers = numbers;
        this.epoch = epoch;
        this.view = view;
        this.lanes = lanes;
    }

    /**
     * Checks that the numbers are those of the trainer's rank and worker, and that the epoch has them.
     *
     * @param skipped the batches of the epoch that the trainer leaves out
     * @throws ProtocolException if not
     */
    static Subscription of(Subscribe asked, SkippedBatches skipped, GroupOrder order, View view, Identity identity)
            throws ProtocolException {
        long stride = (long) identity.worldSize() * identity.workers();
        if (asked.stride() != stride) {
            throw bad("stride is " + asked.stride() + ": world size " + identity.worldSize() + " times "
                    + identity.workers() + " workers make " + stride);
        }
        BatchNumbers numbers = new BatchNumbers(asked.first(), stride, asked.count(), skipped);
        long rank = numbers.firstSlot() % identity.worldSize();
        if (rank != identity.rank()) {
            throw bad("number " + asked.first() + " is one of rank " + rank + ", this is rank " + identity.rank());
        }
        if (asked.count() > 0) {
            EpochSize size = order.order().size();
            long end = ReceiptCheck.end(size, skipped, asked.tail(), stride);
            long last = numbers.firstSlot() + (asked.count() - 1) * stride;
            if (last >= end || skipped.contains(asked.first())) {
                throw bad("slot " + last + " is past the end, or number " + asked.first()
                        + " is skipped: the epoch has " + size.batches() + " batches, " + skipped.left()
                        + " without skipped ones (tail " + asked.tail() + ", stride " + stride + ")");
            }
        }
        BitSet lanes = null;
        if (!asked.lanes().isEmpty()) {
            lanes = new BitSet();
            for (int lane : asked.lanes()) {
                if (lane >= order.order().lanes()) {
                    throw bad(
                            "lane " + lane + ": the stream has " + order.order().lanes());
                }
                lanes.set(lane);
            }
        }
        return new Subscription(asked, numbers, order.epoch(asked.epoch()), view, lanes);
    }

    private static ProtocolException bad(String message) {
        return new ProtocolException(ErrorCode.BAD_FRAME, "SUBSCRIBE: " + message);
    }

    Subscribe asked() {
        return asked;
    }

    /** Whether the number was requested. */
    boolean covers(long number) {
        return numbers.covers(number);
    }

    /** Returns the columns to send. */
    View view() {
        return view;
    }

    long id() {
        return asked.subscription();
    }

    /**
     * The next piece that may be sent, or null. Sender thread only.
     *
     * @param granted the greatest number that may be sent
     */
    @Nullable
    PieceKey next(long granted) {
        while (step < asked.count()) {
            long number = numbers.number(step);
            if (number > granted) {
                return null;
            }
            if (batch == null) {
                batch = Delivery.batch(epoch.numbering(), asked.tail(), number);
                piece = 0;
            }
            while (piece < batch.pieces().size()) {
                if (wants(batch.pieces().get(piece).lane())) {
                    return new PieceKey(epoch, batch, piece, id());
                }
                piece++;
            }
            batch = null;
            step++;
        }
        return null;
    }

    /** The piece that {@link #next} gave was sent. */
    void sent(int rows) {
        piece++;
        rowsSent += rows;
    }

    /** Whether all numbers have been passed, told once. */
    boolean ends() {
        if (step < asked.count() || endTold) {
            return false;
        }
        endTold = true;
        return true;
    }

    long rowsSent() {
        return rowsSent;
    }

    /** A piece that was sent before, or null if none such was. */
    @Nullable
    PieceKey sentBefore(long number, int index) {
        long at = numbers.index(number);
        if (at < 0 || at > step || (at == step && (batch == null || index >= piece))) {
            return null;
        }
        DeliveredBatch earlier = Delivery.batch(epoch.numbering(), asked.tail(), number);
        boolean there = index < earlier.pieces().size()
                && wants(earlier.pieces().get(index).lane());
        return there ? new PieceKey(epoch, earlier, index, id()) : null;
    }

    /** Whether pieces of the lane were asked for. */
    boolean wants(int lane) {
        return lanes == null || lanes.get(lane);
    }
}

package dev.stoker.server.session.receipts;

import dev.stoker.schemas.order.delivery.BatchNumbers;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.Subscribe;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The numbers that a session has requested. Subscriptions that are not durable are lost if their feeder fails. Their
 * receipts arrive again over another connection, and the ledger must assign them then. For the session's reader thread.
 */
final class AskedNumbers {

    /** A session acknowledges the epoch before the one it asks for, seldom an earlier one. */
    private static final int KEPT = 64;

    private final ArrayDeque<Subscribe> asked = new ArrayDeque<>();

    void add(Subscribe subscribe) {
        asked.addFirst(subscribe);
        if (asked.size() > KEPT) {
            asked.removeLast();
        }
    }

    /** Whether the session has asked for nothing yet. */
    boolean isEmpty() {
        return asked.isEmpty();
    }

    /** The tail under which a number was asked for; of one that was not, that of the newest subscription. */
    TailPolicy tail(long epoch, SkippedBatches skipped, long number) {
        for (Subscribe subscribe : asked) {
            if (covers(subscribe, skipped, epoch, number)) {
                return subscribe.tail();
            }
        }
        return asked.getFirst().tail();
    }

    /** The acknowledged numbers that this session never asked for, as the subscriptions they must have come by. */
    List<Subscribe> unasked(Ack ack, SkippedBatches skipped, long stride) {
        Map<Long, long[]> ranges = null;
        for (int i = 0; i < ack.count(); i++) {
            long number = ack.number(i);
            if (!isAsked(ack.epoch(), skipped, number)) {
                ranges = ranges == null ? new TreeMap<>() : ranges;
                long slot = skipped.slot(number);
                long[] range = ranges.computeIfAbsent(slot % stride, r -> new long[] {slot, slot});
                range[0] = Math.min(range[0], slot);
                range[1] = Math.max(range[1], slot);
            }
        }
        if (ranges == null) {
            return List.of();
        }
        TailPolicy tail = asked.getFirst().tail();
        List<Subscribe> unasked = new ArrayList<>();
        for (long[] range : ranges.values()) {
            long count = (range[1] - range[0]) / stride + 1;
            unasked.add(new Subscribe(0, ack.epoch(), skipped.number(range[0]), stride, count, tail, List.of()));
        }
        return unasked;
    }

    private boolean isAsked(long epoch, SkippedBatches skipped, long number) {
        for (Subscribe subscribe : asked) {
            if (covers(subscribe, skipped, epoch, number)) {
                return true;
            }
        }
        return false;
    }

    private static boolean covers(Subscribe asked, SkippedBatches skipped, long epoch, long number) {
        return asked.epoch() == epoch
                && new BatchNumbers(asked.first(), asked.stride(), asked.count(), skipped).covers(number);
    }
}

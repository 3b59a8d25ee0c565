package dev.stoker.schemas.protocol;

import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.parts.Fields;
import java.util.BitSet;
import java.util.List;

/**
 * Requests numbers of an epoch from this server (client to server). Replaces the session's earlier subscription.
 *
 * @param subscription a number that the session has not used before
 * @param epoch the epoch
 * @param first the first virtual number
 * @param stride the distance between two numbers, at least 1; batches that the client skips do not count
 * @param count number of batch numbers
 * @param tail the policy at the end of the epoch
 * @param lanes the lanes whose pieces are sent; empty for all
 * @param emptyShare whether the trainer has no number in the epoch from its position on, and so has finished it;
 *     {@code count} is 0
 * @param begin the number at which the trainer began the epoch, or resumed it; at most {@code first}. {@link #NONE} if
 *     it came from the epoch before
 */
public record Subscribe(
        long subscription,
        long epoch,
        long first,
        long stride,
        long count,
        TailPolicy tail,
        List<Integer> lanes,
        boolean emptyShare,
        long begin)
        implements Frame {

    /** The {@code begin} of a trainer that came from the epoch before. */
    public static final long NONE = -1;

    /** A subscription of a trainer that has numbers in the epoch, and came from the epoch before. */
    public Subscribe(
            long subscription, long epoch, long first, long stride, long count, TailPolicy tail, List<Integer> lanes) {
        this(subscription, epoch, first, stride, count, tail, lanes, false, NONE);
    }

    public Subscribe {
        Fields.u32("subscription", subscription);
        Fields.u32("epoch", epoch);
        Fields.natural("first", first);
        Fields.u32("stride", stride);
        Fields.natural("count", count);
        lanes = List.copyOf(lanes);
        if (begin < NONE || begin > first) {
            throw new IllegalArgumentException(
                    "begin is " + begin + ", and first " + first + ": expected at most first");
        }
        if (stride == 0) {
            throw new IllegalArgumentException("stride is 0: expected 1 … 2^32-1");
        }
        if (emptyShare && count > 0) {
            throw new IllegalArgumentException("the share is said to be empty, and count is " + count + ": expected 0");
        }
        if (count > 0 && count - 1 > (Long.MAX_VALUE - first) / stride) {
            throw new IllegalArgumentException(
                    "numbers from " + first + ", " + count + " times " + stride + ", go past 2^63-1");
        }
        BitSet seen = new BitSet();
        for (int lane : lanes) {
            Fields.u16("lane", lane);
            if (seen.get(lane)) {
                throw new IllegalArgumentException("lane " + lane + " is named twice");
            }
            seen.set(lane);
        }
    }

    /** Returns the same subscription for all lanes. */
    public Subscribe ofAllLanes() {
        return lanes.isEmpty()
                ? this
                : new Subscribe(subscription, epoch, first, stride, count, tail, List.of(), emptyShare, begin);
    }

    @Override
    public FrameType type() {
        return FrameType.SUBSCRIBE;
    }
}

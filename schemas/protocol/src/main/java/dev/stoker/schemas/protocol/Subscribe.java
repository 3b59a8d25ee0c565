package dev.stoker.schemas.protocol;

import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.parts.Fields;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Requests numbers of an epoch from this server (client to server). Replaces the session's earlier subscription.
 *
 * <pre>
 *  8 u32 subscription   12 u32 epoch    16 u64 first   24 u32 stride   28 u64 count
 * 36 u8 tail            37 u8 flags (bit 0: empty share)   38 u16 lanes   40 i64 begin   48 u16[] lanes
 * </pre>
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

    private static final int FIXED = 40;
    private static final int EMPTY_SHARE = 1;

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

    public ByteBuffer body() {
        ByteBuffer out = ByteBuffer.allocate(FIXED + Short.BYTES * lanes.size()).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt((int) subscription).putInt((int) epoch);
        out.putLong(first).putInt((int) stride).putLong(count);
        out.put((byte) tail.code()).put((byte) (emptyShare ? EMPTY_SHARE : 0));
        out.putShort((short) lanes.size()).putLong(begin);
        lanes.forEach(lane -> out.putShort((short) (int) lane));
        return out.flip();
    }

    public static Subscribe read(ByteBuffer body) throws ProtocolException {
        long subscription = Integer.toUnsignedLong(body.getInt());
        long epoch = Integer.toUnsignedLong(body.getInt());
        long first = body.getLong();
        long stride = Integer.toUnsignedLong(body.getInt());
        long count = body.getLong();
        int code = Byte.toUnsignedInt(body.get());
        TailPolicy tail = TailPolicy.byCode(code)
                .orElseThrow(() -> ProtocolException.badFrame("SUBSCRIBE: tail is " + code + ": expected 0, 1 or 2"));
        int flags = Byte.toUnsignedInt(body.get());
        if ((flags & ~EMPTY_SHARE) != 0) {
            throw ProtocolException.badFrame("SUBSCRIBE: reserved bytes are not 0");
        }
        int lanes = Short.toUnsignedInt(body.getShort());
        long begin = body.getLong();
        if (body.remaining() != Short.BYTES * lanes) {
            throw ProtocolException.badFrame("SUBSCRIBE: " + body.remaining() + " bytes left for " + lanes + " lanes");
        }
        List<Integer> list = new ArrayList<>(lanes);
        for (int i = 0; i < lanes; i++) {
            list.add(Short.toUnsignedInt(body.getShort()));
        }
        return new Subscribe(subscription, epoch, first, stride, count, tail, list, flags == EMPTY_SHARE, begin);
    }

    @Override
    public FrameType type() {
        return FrameType.SUBSCRIBE;
    }
}

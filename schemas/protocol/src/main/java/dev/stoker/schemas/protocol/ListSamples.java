package dev.stoker.schemas.protocol;

import dev.stoker.schemas.protocol.parts.Fields;
import java.nio.ByteBuffer;

/**
 * Requests a part of a listing of keys (client to server). {@link Entries} answers it.
 *
 * <pre>
 *  8 u32 request    12 u32 limit
 * 16 u32 prefix     20 u32 delimiter    24 u32 after    bytes of each text
 * 28 u32 0
 * 32     the three texts, in UTF-8
 * </pre>
 *
 * @param request a number that no unanswered request of the session has
 * @param limit most entries of the answer
 * @param prefix lists only keys that begin with this text
 * @param delimiter if not empty, all keys with this text after the prefix are one entry
 * @param after the name of the last entry that the client has; empty for the beginning
 */
public record ListSamples(long request, int limit, String prefix, String delimiter, String after) implements Frame {
    /** Most entries of an answer. */
    public static final int MAX_ENTRIES = 16_384;

    public static final int FIXED = 24;

    public ListSamples {
        Fields.u32("request", request);
        if (limit < 1 || limit > MAX_ENTRIES) {
            throw new IllegalArgumentException("limit is " + limit + ": expected 1 to " + MAX_ENTRIES);
        }
    }

    public ByteBuffer body() {
        byte[] start = FrameText.utf8("the prefix", prefix);
        byte[] separator = FrameText.utf8("the delimiter", delimiter);
        byte[] last = FrameText.utf8("the name of the last entry", after);
        ByteBuffer out = FrameText.allocate(FIXED + start.length + separator.length + last.length);
        out.putInt((int) request).putInt(limit);
        out.putInt(start.length).putInt(separator.length).putInt(last.length).putInt(0);
        return out.put(start).put(separator).put(last).flip();
    }

    public static ListSamples read(ByteBuffer body) throws ProtocolException {
        long request = Integer.toUnsignedLong(body.getInt());
        int limit = body.getInt();
        long prefixBytes = Integer.toUnsignedLong(body.getInt());
        long delimiterBytes = Integer.toUnsignedLong(body.getInt());
        long afterBytes = Integer.toUnsignedLong(body.getInt());
        FrameText.requireZero(FrameType.LIST, body.getInt());
        String prefix = FrameText.read(FrameType.LIST, body, prefixBytes);
        String delimiter = FrameText.read(FrameType.LIST, body, delimiterBytes);
        String after = FrameText.read(FrameType.LIST, body, afterBytes);
        FrameText.requireEnd(FrameType.LIST, body);
        return new ListSamples(request, limit, prefix, delimiter, after);
    }

    @Override
    public FrameType type() {
        return FrameType.LIST;
    }
}

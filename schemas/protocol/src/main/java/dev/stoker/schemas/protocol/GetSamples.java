package dev.stoker.schemas.protocol;

import dev.stoker.schemas.protocol.parts.Fields;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Requests samples by key (client to server). {@link Samples} answers it.
 *
 * <pre>
 *  8 u32 request    a number that no unanswered request of the session has
 * 12 u32 keys       how many follow
 * 16 u32 flags      bit 0: only where the samples are, without their values
 * 20 u32 0
 * 24     for each key: u32 length, then its UTF-8
 * </pre>
 *
 * @param request number of the request
 * @param statOnly whether the answer has no values
 * @param keys the keys; a key may be repeated
 */
public record GetSamples(long request, boolean statOnly, List<String> keys) implements Frame {
    /** Most keys of a request. */
    public static final int MAX_KEYS = 65_536;

    /** Most bytes of the keys of a request, with four for each key. */
    public static final int MAX_KEY_BYTES = Protocol.MAX_FROM_CLIENT - 64;

    /** Most requests of a session that are not answered. */
    public static final int MAX_REQUESTS = 4;

    public static final int FIXED = 16;
    private static final int STAT_ONLY = 1;

    public GetSamples {
        keys = List.copyOf(keys);
        Fields.u32("request", request);
        if (keys.isEmpty() || keys.size() > MAX_KEYS) {
            throw new IllegalArgumentException(keys.size() + " keys: expected 1 to " + MAX_KEYS);
        }
    }

    public ByteBuffer body() {
        List<byte[]> texts = new ArrayList<>(keys.size());
        long bytes = FIXED;
        for (String key : keys) {
            byte[] text = FrameText.utf8("a key", key);
            texts.add(text);
            bytes += Integer.BYTES + text.length;
        }
        ByteBuffer out = FrameText.allocate(Math.toIntExact(bytes));
        out.putInt((int) request).putInt(keys.size()).putInt(statOnly ? STAT_ONLY : 0);
        out.putInt(0);
        texts.forEach(text -> out.putInt(text.length).put(text));
        return out.flip();
    }

    public static GetSamples read(ByteBuffer body) throws ProtocolException {
        long request = Integer.toUnsignedLong(body.getInt());
        long count = Integer.toUnsignedLong(body.getInt());
        int flags = body.getInt();
        FrameText.requireZero(FrameType.GET, (flags & ~STAT_ONLY) | body.getInt());
        if (count > MAX_KEYS || count * Integer.BYTES > body.remaining()) {
            throw ProtocolException.badFrame("GET: " + body.remaining() + " bytes left for " + count + " keys");
        }
        List<String> keys = new ArrayList<>((int) count);
        for (int i = 0; i < count; i++) {
            if (body.remaining() < Integer.BYTES) {
                throw ProtocolException.badFrame("GET: cut short at key " + i + " of " + count);
            }
            keys.add(FrameText.read(FrameType.GET, body, Integer.toUnsignedLong(body.getInt())));
        }
        FrameText.requireEnd(FrameType.GET, body);
        return new GetSamples(request, flags == STAT_ONLY, keys);
    }

    @Override
    public FrameType type() {
        return FrameType.GET;
    }
}

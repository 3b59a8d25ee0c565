package dev.stoker.schemas.protocol;

import dev.stoker.schemas.crc.ConcatCrc;
import dev.stoker.schemas.protocol.parts.Fields;
import dev.stoker.schemas.protocol.parts.SampleAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Answers a part of a {@link GetSamples} (server to client). All parts together have one item for each key, in any
 * order.
 *
 * <pre>
 *  8 u32 request
 * 12 u32 items
 * 16 u64 version    of the dataset
 * 24 u32 flags      bit 0: the last part
 * 28 u32 message    bytes of the message at the end; 0 without values
 * 32     items
 *        problems   the texts of all items, one after the other
 *        message    an Arrow record batch message; its rows are the items that were found, in their order
 * </pre>
 *
 * @param request number of the request
 * @param version the version in which the keys were looked up
 * @param isLast whether the request is answered with this part
 * @param items the keys that this part answers
 * @param message the values; empty if only places were requested or no item was found
 */
public record Samples(long request, long version, boolean isLast, List<Item> items, ByteBuffer message)
        implements Frame {
    public static final int FIXED = 24;
    private static final int LAST = 1;

    /** Tells whether a key was found. */
    public enum State {
        /** The version has no such sample. */
        MISSING,
        FOUND,
        /** The version has the sample, but its data is damaged. */
        DAMAGED
    }

    /**
     * Answers one key.
     *
     * <pre>
     *  0 u32 key     index in the request
     *  4 u8  state   0 missing, 1 found, 2 damaged     5 u8 × 3: 0
     *  8 u64 ordinal   16 u32 row   20 u32 length   24 u32 CRC-32C
     * 28 u32 problem   bytes of a text; 0 unless damaged
     * </pre>
     *
     * @param key index of the key in the request
     * @param place where the sample is; zeros if it is missing
     * @param problem what is damaged; empty unless the state says so
     */
    public record Item(long key, State state, SampleAddress place, String problem) {
        public static final int BYTES = 32;

        public Item {
            Fields.u32("key", key);
            if (problem.isEmpty() == (state == State.DAMAGED)) {
                throw new IllegalArgumentException(
                        "key " + key + " is " + state + " with the problem '" + problem + "'");
            }
        }

        /** Creates the answer for a key that the version does not have. */
        public static Item missing(int key) {
            return new Item(key, State.MISSING, SampleAddress.NONE, "");
        }

        /** Creates the answer for a sample that was found. */
        public static Item found(int key, SampleAddress place) {
            return new Item(key, State.FOUND, place, "");
        }

        /** Creates the answer for a sample that cannot be read because of damage. */
        public static Item damaged(int key, SampleAddress place, String problem) {
            return new Item(key, State.DAMAGED, place, problem);
        }
    }

    public Samples {
        items = List.copyOf(items);
        Fields.u32("request", request);
        Fields.natural("version", version);
        if (message.hasRemaining() && items.stream().noneMatch(item -> item.state() == State.FOUND)) {
            throw new IllegalArgumentException("a message without samples");
        }
    }

    /** Returns the number of items that were found, which are the rows of a message. */
    public int found() {
        return (int) items.stream().filter(item -> item.state() == State.FOUND).count();
    }

    /**
     * Encodes the frame without copying the message.
     *
     * @param messageCrc CRC-32C of the message
     * @return the parts of the frame, for a gathering write
     */
    public ByteBuffer[] parts(int messageCrc) {
        ByteBuffer small = small();
        long length = Protocol.PREFIX_BYTES
                - Protocol.LENGTH_BYTES
                + (long) small.remaining()
                + message.remaining()
                + Protocol.CHECKSUM_BYTES;
        if (length > Protocol.MAX_BATCH) {
            throw new IllegalArgumentException("an answer of " + length + " bytes; 2^31 is the limit");
        }
        ByteBuffer head = FrameText.allocate(Protocol.PREFIX_BYTES + small.remaining());
        head.putInt((int) length).put((byte) type().code()).put((byte) 0).putShort((short) 0);
        head.put(small).flip();
        ConcatCrc crc = new ConcatCrc();
        crc.add(head.slice(Protocol.LENGTH_BYTES, head.limit() - Protocol.LENGTH_BYTES));
        if (message.hasRemaining()) {
            crc.add(messageCrc, message.remaining());
        }
        ByteBuffer checksum = FrameText.allocate(Protocol.CHECKSUM_BYTES);
        checksum.putInt(crc.value()).flip();
        return new ByteBuffer[] {head, message.duplicate(), checksum};
    }

    public ByteBuffer body() {
        ByteBuffer small = small();
        ByteBuffer out = FrameText.allocate(Math.addExact(small.remaining(), message.remaining()));
        return out.put(small).put(message.duplicate()).flip();
    }

    private ByteBuffer small() {
        List<byte[]> problems = new ArrayList<>();
        int bytes = FIXED + Item.BYTES * items.size();
        for (Item item : items) {
            byte[] problem = FrameText.utf8("a problem", item.problem());
            problems.add(problem);
            bytes = Math.addExact(bytes, problem.length);
        }
        ByteBuffer out = FrameText.allocate(bytes);
        out.putInt((int) request).putInt(items.size()).putLong(version);
        out.putInt(isLast ? LAST : 0).putInt(message.remaining());
        for (int i = 0; i < items.size(); i++) {
            Item item = items.get(i);
            out.putInt((int) item.key()).putInt(item.state().ordinal());
            item.place().put(out);
            out.putInt(problems.get(i).length);
        }
        problems.forEach(out::put);
        return out.flip();
    }

    public static Samples read(ByteBuffer body) throws ProtocolException {
        long request = Integer.toUnsignedLong(body.getInt());
        long count = Integer.toUnsignedLong(body.getInt());
        long version = body.getLong();
        int flags = body.getInt();
        long message = Integer.toUnsignedLong(body.getInt());
        FrameText.requireZero(FrameType.SAMPLES, flags & ~LAST);
        if (count * Item.BYTES + message > body.remaining()) {
            throw ProtocolException.badFrame(
                    "SAMPLES: " + body.remaining() + " bytes left for " + count + " items and a message of " + message);
        }
        ByteBuffer texts = body.duplicate().position(body.position() + (int) count * Item.BYTES);
        List<Item> items = new ArrayList<>((int) count);
        for (int i = 0; i < count; i++) {
            long key = Integer.toUnsignedLong(body.getInt());
            long state = Integer.toUnsignedLong(body.getInt());
            if (state >= State.values().length) {
                throw ProtocolException.badFrame("SAMPLES: item " + i + " has state " + state);
            }
            SampleAddress place = SampleAddress.read(body);
            String problem = FrameText.read(FrameType.SAMPLES, texts, Integer.toUnsignedLong(body.getInt()));
            items.add(new Item(key, State.values()[(int) state], place, problem));
        }
        if (texts.remaining() != message) {
            throw ProtocolException.badFrame(
                    "SAMPLES: " + texts.remaining() + " bytes left for a message of " + message);
        }
        ByteBuffer copy = ByteBuffer.allocate(texts.remaining()).put(texts).flip();
        return new Samples(request, version, flags == LAST, items, copy);
    }

    @Override
    public FrameType type() {
        return FrameType.SAMPLES;
    }
}

package dev.stoker.schemas.protocol;

import dev.stoker.schemas.protocol.parts.Fields;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Delivers a piece by reference, on a session with local reads (server to client). The client assembles the message
 * from the inline bytes and from slices of announced files. It has the same header and checksum as the {@link
 * Batch} that it replaces.
 *
 * <pre>
 *  0 as BATCH, but for length and type
 * 80 u32 message        bytes of the whole message
 * 84 u32 inline         its first bytes, which follow
 * 88 u32 slices
 * 92 u32 0
 * 96     inline bytes, then for each slice   u32 file   u32 length   u64 offset
 * </pre>
 *
 * @param header header of the BATCH that it replaces
 * @param inline the message's first bytes, between position and limit; not copied, and must not be changed
 * @param slices slices with the rest of the message, in order
 */
public record BatchRef(BatchHeader header, ByteBuffer inline, List<Slice> slices) implements Frame {
    /** Number of bytes before the inline bytes. */
    public static final int HEADER_BYTES = BatchHeader.BYTES + 16;

    /** Number of bytes of a slice in the frame. */
    public static final int SLICE_BYTES = 16;

    /** File number that means zeros. */
    public static final long ZEROS = 0xFFFF_FFFFL;

    private static final int ALIGNMENT = 64;

    /**
     * Describes a part of a message.
     *
     * @param file number of the file, or {@link #ZEROS}
     * @param length length in bytes
     * @param offset position of the first byte in the file; 0 to 63 for zeros, which end before 64
     */
    public record Slice(long file, long length, long offset) {
        public Slice {
            Fields.u32("file", file);
            Fields.u32("length", length);
            Fields.natural("offset", offset);
            if (length == 0 || (file == ZEROS && offset + length >= ALIGNMENT)) {
                throw new IllegalArgumentException(
                        "a slice of " + length + " bytes at " + offset + " of file " + Long.toUnsignedString(file));
            }
        }
    }

    public BatchRef {
        slices = List.copyOf(slices);
        long bytes = inline.remaining();
        for (Slice slice : slices) {
            bytes += slice.length();
        }
        if (bytes != header.messageBytes() || bytes % ALIGNMENT != 0) {
            throw new IllegalArgumentException("inline bytes and slices have " + bytes + " bytes, the message "
                    + header.messageBytes() + ", a multiple of " + ALIGNMENT);
        }
    }

    /** Writes the 96 bytes before the inline bytes at the buffer's position. */
    public static void putHead(ByteBuffer out, BatchHeader header, int inlineBytes, int slices) {
        int at = out.position();
        ByteOrder before = out.order();
        out.order(ByteOrder.LITTLE_ENDIAN);
        header.put(out);
        long length = HEADER_BYTES - Protocol.LENGTH_BYTES + (long) inlineBytes + (long) SLICE_BYTES * slices;
        out.putInt(at, Math.toIntExact(length));
        out.put(at + Protocol.LENGTH_BYTES, (byte) FrameType.BATCH_REF.code());
        out.putInt(header.messageBytes()).putInt(inlineBytes).putInt(slices).putInt(0);
        out.order(before);
    }

    /** Returns the body after the frame's first eight bytes. */
    public ByteBuffer body() {
        int small = inline.remaining();
        ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES + small + SLICE_BYTES * slices.size())
                .order(ByteOrder.LITTLE_ENDIAN);
        putHead(out, header, small, slices.size());
        out.put(inline.duplicate());
        slices.forEach(slice ->
                out.putInt((int) slice.file()).putInt((int) slice.length()).putLong(slice.offset()));
        return out.flip().position(Protocol.PREFIX_BYTES);
    }

    public static BatchRef read(int flags, ByteBuffer in) throws ProtocolException {
        BatchHeader first = BatchHeader.read(flags, in);
        int message = in.getInt();
        long small = Integer.toUnsignedLong(in.getInt());
        long count = Integer.toUnsignedLong(in.getInt());
        int reserved = in.getInt();
        if (reserved != 0 || in.remaining() != small + SLICE_BYTES * count) {
            throw ProtocolException.badFrame("BATCH_REF: " + in.remaining() + " bytes left for " + small
                    + " inline bytes and " + count + " slices");
        }
        byte[] inline = new byte[(int) small];
        in.get(inline);
        List<Slice> slices = new ArrayList<>((int) count);
        for (int i = 0; i < count; i++) {
            slices.add(
                    new Slice(Integer.toUnsignedLong(in.getInt()), Integer.toUnsignedLong(in.getInt()), in.getLong()));
        }
        BatchHeader header =
                new BatchHeader(first.identity(), first.source(), first.subscription(), message, first.crc());
        return new BatchRef(header, ByteBuffer.wrap(inline).asReadOnlyBuffer(), slices);
    }

    @Override
    public FrameType type() {
        return FrameType.BATCH_REF;
    }
}

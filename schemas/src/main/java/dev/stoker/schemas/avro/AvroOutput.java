package dev.stoker.schemas.avro;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/** Writes Avro's binary encoding into a growing array. Not thread-safe. */
public final class AvroOutput {

    private byte[] bytes = new byte[1024];
    private int size;

    public void writeLong(long value) {
        long zigzag = (value << 1) ^ (value >> 63);
        reserve(10);
        while ((zigzag & ~0x7FL) != 0) {
            bytes[size++] = (byte) (zigzag | 0x80);
            zigzag >>>= 7;
        }
        bytes[size++] = (byte) zigzag;
    }

    public void writeInt(int value) {
        writeLong(value);
    }

    public void writeBoolean(boolean value) {
        reserve(1);
        bytes[size++] = (byte) (value ? 1 : 0);
    }

    public void writeString(String text) {
        writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    public void writeBytes(byte[] content) {
        writeLong(content.length);
        writeFixed(content);
    }

    /** Writes bytes without a length before them. */
    public void writeFixed(byte[] content) {
        reserve(content.length);
        System.arraycopy(content, 0, bytes, size, content.length);
        size += content.length;
    }

    /** Writes a UUID as 16 bytes, most significant first. */
    public void writeUuid(UUID id) {
        writeFixed(ByteBuffer.allocate(16)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array());
    }

    /** Returns the array with the bytes, which is valid until the next write. */
    public byte[] array() {
        return bytes;
    }

    public int size() {
        return size;
    }

    public byte[] toByteArray() {
        return Arrays.copyOf(bytes, size);
    }

    public void clear() {
        size = 0;
    }

    private void reserve(int count) {
        int needed = Math.addExact(size, count);
        if (needed > bytes.length) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(Integer.MAX_VALUE - 8, Math.max(needed, 2L * bytes.length)));
        }
    }
}

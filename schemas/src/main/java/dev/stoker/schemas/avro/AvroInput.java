package dev.stoker.schemas.avro;

import dev.stoker.schemas.errors.CorruptDataException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/**
 * Reads Avro's binary encoding strictly: checks every length against the remaining bytes, and accepts only one encoding
 * of each value. Not thread-safe.
 */
public final class AvroInput {

    private final byte[] bytes;
    private final int end;
    private final String file;
    private final String advice;
    private int position;

    /** @param file the file's name as the user knows it */
    public AvroInput(byte[] bytes, int start, int end, String file) {
        this(bytes, start, end, file, CorruptDataException.FILE_ADVICE);
    }

    /**
     * Reads bytes that are not in a file.
     *
     * @param where the place as the user knows it
     * @param advice the next step if the bytes differ from the written bytes
     */
    public AvroInput(byte[] bytes, int start, int end, String where, String advice) {
        this.bytes = bytes;
        this.position = start;
        this.end = end;
        this.file = where;
        this.advice = advice;
    }

    public int position() {
        return position;
    }

    public int remaining() {
        return end - position;
    }

    public String file() {
        return file;
    }

    public long readLong() throws CorruptDataException {
        long zigzag = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            if (position == end) {
                throw corrupt("a number", "its last byte", "the end");
            }
            byte b = bytes[position++];
            if (shift == 63 && (b & 0xFE) != 0) {
                break;
            }
            zigzag |= (b & 0x7FL) << shift;
            if (b >= 0) {
                if (b == 0 && shift > 0) {
                    throw corrupt("a number", "the shortest form", "a longer one");
                }
                return (zigzag >>> 1) ^ -(zigzag & 1);
            }
        }
        throw corrupt("a number", "at most 64 bits", "more");
    }

    public int readInt() throws CorruptDataException {
        long value = readLong();
        if (value != (int) value) {
            throw corrupt("a number", "32 bits", value);
        }
        return (int) value;
    }

    public boolean readBoolean() throws CorruptDataException {
        byte value = readFixed(1)[0];
        if (value != 0 && value != 1) {
            throw corrupt("a boolean", "0 or 1", value);
        }
        return value == 1;
    }

    public String readString() throws CorruptDataException {
        int length = readLength("a text");
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, position, length))
                    .toString();
            position += length;
            return text;
        } catch (CharacterCodingException e) {
            throw corrupt("a text", "UTF-8", "other bytes");
        }
    }

    public byte[] readBytes() throws CorruptDataException {
        return readFixed(readLength("a byte sequence"));
    }

    /** Bytes without a length before them. */
    public byte[] readFixed(int length) throws CorruptDataException {
        requireLeft(length);
        byte[] content = Arrays.copyOfRange(bytes, position, position + length);
        position += length;
        return content;
    }

    /** As {@link #readBytes}, without a copy; little-endian. */
    public ByteBuffer viewBytes() throws CorruptDataException {
        return viewFixed(readLength("a byte sequence"));
    }

    /** Reads bytes like {@link #readFixed}, without a copy; little-endian. */
    public ByteBuffer viewFixed(int length) throws CorruptDataException {
        requireLeft(length);
        ByteBuffer view = ByteBuffer.wrap(bytes, position, length).slice().order(ByteOrder.LITTLE_ENDIAN);
        position += length;
        return view;
    }

    private void requireLeft(int length) throws CorruptDataException {
        if (length > remaining()) {
            throw corrupt("a value", length + " bytes", remaining());
        }
    }

    public UUID readUuid() throws CorruptDataException {
        ByteBuffer id = ByteBuffer.wrap(readFixed(16));
        return new UUID(id.getLong(), id.getLong());
    }

    /**
     * Returns the number of items of the array or map that starts here, 0 for none. After that many items, call {@link
     * #endItems}.
     *
     * @param itemBytes minimum bytes of an item
     */
    public int readItems(int itemBytes) throws CorruptDataException {
        long count = readLong();
        if (count < 0 || count > remaining() / itemBytes) {
            throw corrupt("the number of items", "between 0 and " + remaining() / itemBytes, count);
        }
        return (int) count;
    }

    /** Reads the end of an array or map of {@code count} items, which has one block. */
    public void endItems(int count) throws CorruptDataException {
        if (count > 0) {
            long more = readLong();
            if (more != 0) {
                throw corrupt("the number of further items", 0, more);
            }
        }
    }

    /** Checks that no bytes are left. */
    public void expectEnd() throws CorruptDataException {
        if (remaining() != 0) {
            throw corrupt("its end", "0 bytes", remaining() + " bytes");
        }
    }

    public CorruptDataException corrupt(String what, Object expected, Object found) {
        return CorruptDataException.mismatch(file, what + " at byte " + position, expected, found, advice);
    }

    private int readLength(String what) throws CorruptDataException {
        long length = readLong();
        if (length < 0 || length > remaining()) {
            throw corrupt("the length of " + what, "between 0 and " + remaining(), length);
        }
        return (int) length;
    }
}

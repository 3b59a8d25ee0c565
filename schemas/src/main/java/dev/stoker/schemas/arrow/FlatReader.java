package dev.stoker.schemas.arrow;

import dev.stoker.schemas.errors.CorruptDataException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads an untrusted flatbuffer. Checks every position against the bytes before use, so it throws only
 * CorruptDataException. Positions are relative to the start of the flatbuffer. A field beyond the end of its vtable, or
 * with entry 0, has its default value.
 */
final class FlatReader {
    private final ByteBuffer bytes;
    private final String file;
    private final String what;

    FlatReader(ByteBuffer flatbuffer, String file, String what) {
        this.bytes = flatbuffer.slice().order(ByteOrder.LITTLE_ENDIAN);
        this.file = file;
        this.what = what;
    }

    CorruptDataException corrupt(String detail) {
        return new CorruptDataException(
                file + " is corrupt: " + what + ": " + detail + "; " + CorruptDataException.FILE_ADVICE);
    }

    int root() throws CorruptDataException {
        return follow(0);
    }

    /** Returns the position of a table's field, or 0 if it has its default. */
    int field(int table, int slot, int size) throws CorruptDataException {
        long vtable = (long) table - i32(table);
        int at = checked(vtable, 4);
        int vtableSize = u16(at);
        int tableSize = u16(at + 2);
        int entry = 4 + 2 * slot;
        if (vtableSize < 4 || vtableSize % 2 != 0 || tableSize < 4) {
            throw corrupt("vtable at " + at + " has size " + vtableSize + " for a table of size " + tableSize);
        }
        checked(table, tableSize);
        if (entry + 2 > vtableSize) {
            return 0;
        }
        int offset = u16(at + entry);
        if (offset == 0) {
            return 0;
        }
        if (offset < 4 || offset + size > tableSize) {
            throw corrupt("field " + slot + " at " + offset + " leaves its table of size " + tableSize);
        }
        return table + offset;
    }

    int i32Field(int table, int slot, int otherwise) throws CorruptDataException {
        int at = field(table, slot, 4);
        return at == 0 ? otherwise : i32(at);
    }

    int i16Field(int table, int slot) throws CorruptDataException {
        return i16Field(table, slot, 0);
    }

    int i16Field(int table, int slot, int otherwise) throws CorruptDataException {
        int at = field(table, slot, 2);
        return at == 0 ? otherwise : (short) u16(at);
    }

    int u8Field(int table, int slot) throws CorruptDataException {
        int at = field(table, slot, 1);
        return at == 0 ? 0 : u8(at);
    }

    boolean booleanField(int table, int slot) throws CorruptDataException {
        int value = u8Field(table, slot);
        if (value > 1) {
            throw corrupt("field " + slot + " is a boolean and has the value " + value);
        }
        return value == 1;
    }

    long i64Field(int table, int slot) throws CorruptDataException {
        int at = field(table, slot, 8);
        return at == 0 ? 0 : i64(at);
    }

    /** Returns the position of the table or vector that a field refers to, or 0 if it is absent. */
    int reference(int table, int slot) throws CorruptDataException {
        int at = field(table, slot, 4);
        return at == 0 ? 0 : follow(at);
    }

    /**
     * Returns the number of elements of a vector, all of which are within the bytes; 0 for an absent one (position 0).
     */
    int vectorLength(int vector, int elementSize) throws CorruptDataException {
        if (vector == 0) {
            return 0;
        }
        long length = i32(vector) & 0xFFFFFFFFL;
        checked(vector + 4L, length * elementSize);
        return (int) length;
    }

    /** Returns the table that element i of a vector of offsets refers to. */
    int element(int vector, int i) throws CorruptDataException {
        return follow(vector + 4 + 4 * i);
    }

    /** Returns the text that a field refers to, or null if it is absent. */
    @Nullable
    String string(int table, int slot) throws CorruptDataException {
        int at = reference(table, slot);
        if (at == 0) {
            return null;
        }
        int length = vectorLength(at, 1);
        ByteBuffer text = bytes.slice(at + 4, length);
        try {
            CharBuffer decoded = StandardCharsets.UTF_8.newDecoder().decode(text);
            return decoded.toString();
        } catch (CharacterCodingException e) {
            throw corrupt("text at " + at + " is not UTF-8");
        }
    }

    int i32(int at) throws CorruptDataException {
        return bytes.getInt(checked(at, 4));
    }

    long i64(int at) throws CorruptDataException {
        return bytes.getLong(checked(at, 8));
    }

    private int u8(int at) throws CorruptDataException {
        return bytes.get(checked(at, 1)) & 0xFF;
    }

    private int u16(int at) throws CorruptDataException {
        return bytes.getShort(checked(at, 2)) & 0xFFFF;
    }

    private int follow(int at) throws CorruptDataException {
        long target = at + (i32(at) & 0xFFFFFFFFL);
        if (target == at) {
            throw corrupt("the offset at " + at + " refers to itself");
        }
        return checked(target, 4);
    }

    private int checked(long at, long length) throws CorruptDataException {
        if (at < 0 || length < 0 || at + length > bytes.limit()) {
            throw corrupt("bytes " + at + " to " + (at + length) + " of its " + bytes.limit() + " are referred to");
        }
        return (int) at;
    }
}

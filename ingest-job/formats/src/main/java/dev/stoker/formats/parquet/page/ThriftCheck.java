package dev.stoker.formats.parquet.page;

import dev.stoker.formats.DamagedFileException;
import java.nio.ByteBuffer;

/**
 * Walks over a struct of Thrift's compact protocol before it is parsed. The parser allocates lists and strings by the
 * lengths that the file declares; this class refuses lengths that go beyond the bytes.
 */
public final class ThriftCheck {
    private static final int MAX_DEPTH = 32;

    private final ByteBuffer in;
    private final String what;

    private ThriftCheck(ByteBuffer in, String what) {
        this.in = in;
        this.what = what;
    }

    /**
     * Returns the length of the struct at the position of the buffer.
     *
     * @param what the file and the part of it, for messages
     */
    public static int structLength(ByteBuffer bytes, String what) throws DamagedFileException {
        ThriftCheck check = new ThriftCheck(bytes.slice(), what);
        check.struct(0);
        return check.in.position();
    }

    private void struct(int depth) throws DamagedFileException {
        if (depth > MAX_DEPTH) {
            throw corrupt("it is nested deeper than " + MAX_DEPTH + " levels");
        }
        while (true) {
            int header = unsignedByte();
            int type = header & 0x0f;
            if (type == 0) {
                return;
            }
            if (header >>> 4 == 0) {
                varint();
            }
            if (type > 2) {
                value(type, depth);
            }
        }
    }

    private void value(int type, int depth) throws DamagedFileException {
        switch (type) {
            case 1, 2, 3 -> unsignedByte();
            case 4, 5, 6 -> varint();
            case 7 -> skip(8);
            case 8 -> skip(varint());
            case 9, 10 -> list(depth);
            case 11 -> map(depth);
            case 12 -> struct(depth + 1);
            case 13 -> skip(16);
            default -> throw corrupt("it has a field of unknown type " + type);
        }
    }

    private void list(int depth) throws DamagedFileException {
        int header = unsignedByte();
        long size = (long) header >>> 4;
        if (size == 15) {
            size = varint();
        }
        items(size);
        for (long i = 0; i < size; i++) {
            value(header & 0x0f, depth + 1);
        }
    }

    private void map(int depth) throws DamagedFileException {
        long size = varint();
        items(size);
        if (size > 0) {
            int types = unsignedByte();
            for (long i = 0; i < size; i++) {
                value(types >>> 4, depth + 1);
                value(types & 0x0f, depth + 1);
            }
        }
    }

    private void items(long size) throws DamagedFileException {
        if (size < 0 || size > in.remaining()) {
            throw corrupt("it declares a list of " + Long.toUnsignedString(size) + " items, but only " + in.remaining()
                    + " bytes follow");
        }
    }

    private long varint() throws DamagedFileException {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int b = unsignedByte();
            value |= (long) (b & 0x7f) << shift;
            if (b < 0x80) {
                return value;
            }
        }
        throw corrupt("a number has more than 10 bytes");
    }

    private int unsignedByte() throws DamagedFileException {
        if (!in.hasRemaining()) {
            throw corrupt("it ends too early");
        }
        return in.get() & 0xff;
    }

    private void skip(long count) throws DamagedFileException {
        if (count < 0 || count > in.remaining()) {
            throw corrupt(
                    "it declares " + Long.toUnsignedString(count) + " bytes, but only " + in.remaining() + " follow");
        }
        in.position(in.position() + (int) count);
    }

    private DamagedFileException corrupt(String how) {
        return new DamagedFileException(what + " is corrupt: " + how + "; restore the file from a copy");
    }
}

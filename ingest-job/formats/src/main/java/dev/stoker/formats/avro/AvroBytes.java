package dev.stoker.formats.avro;

import java.io.IOException;

/** Reads Avro's binary encoding from memory. Exceptions have a clause as their message. For one thread. */
final class AvroBytes {
    private final byte[] bytes;
    private final int end;
    private int position;

    AvroBytes(byte[] bytes, int from, int end) {
        this.bytes = bytes;
        this.position = from;
        this.end = end;
    }

    byte[] array() {
        return bytes;
    }

    int position() {
        return position;
    }

    int remaining() {
        return end - position;
    }

    long readLong() throws IOException {
        long value = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            int b = readByte();
            value |= (long) (b & 0x7f) << shift;
            if (b >= 0) {
                return (value >>> 1) ^ -(value & 1);
            }
        }
        throw new IOException("a number has more than 10 bytes");
    }

    int readInt() throws IOException {
        long value = readLong();
        if (value != (int) value) {
            throw new IOException(value + " is no int");
        }
        return (int) value;
    }

    byte readByte() throws IOException {
        if (position == end) {
            throw new IOException("it ends too early");
        }
        return bytes[position++];
    }

    /** Reads a length and moves over the bytes. Returns where they begin. */
    int skipBytes() throws IOException {
        return skip(readLong());
    }

    /** Moves over some bytes. Returns where they begin. */
    int skip(long count) throws IOException {
        if (count < 0 || count > remaining()) {
            throw new IOException("a value has " + count + " bytes, but only " + remaining() + " follow");
        }
        int from = position;
        position += (int) count;
        return from;
    }

    long readLittleEndian(int width) throws IOException {
        int from = skip(width);
        long value = 0;
        for (int i = 0; i < width; i++) {
            value |= (bytes[from + i] & 0xffL) << (8 * i);
        }
        return value;
    }
}

package dev.stoker.formats.parquet.page;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Decodes integers of variable length. */
final class Varints {
    private Varints() {}

    static int unsignedInt(ByteBuffer in) throws IOException {
        return (int) unsignedLong(in);
    }

    static long unsignedLong(ByteBuffer in) throws IOException {
        long value = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            if (!in.hasRemaining()) {
                throw new IOException("it ends inside a number");
            }
            int b = in.get();
            value |= (long) (b & 0x7f) << shift;
            if (b >= 0) {
                return value;
            }
        }
        throw new IOException("a number has more than 10 bytes");
    }

    static long zigZag(ByteBuffer in) throws IOException {
        long value = unsignedLong(in);
        return (value >>> 1) ^ -(value & 1);
    }
}

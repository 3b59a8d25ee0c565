package dev.stoker.schemas.arrow;

/** Bitmaps in Arrow's order: the least significant bit first, the unused bits of the last byte zero. Stateless. */
final class Bits {
    private Bits() {}

    /**
     * Appends a bit.
     *
     * @param size number of bits in the bitmap
     */
    static void append(ByteList bits, int size, boolean value) {
        if (size % 8 == 0) {
            bits.addByte(0);
        }
        if (value) {
            bits.set(size / 8, bits.get(size / 8) | 1 << (size % 8));
        }
    }

    /** Appends bits that are all 1. */
    static void appendOnes(ByteList bits, int size, int count) {
        int at = size;
        int end = size + count;
        while (at < end && at % 8 != 0) {
            append(bits, at++, true);
        }
        bits.addFilled((end - at) / 8, 0xFF);
        at += (end - at) / 8 * 8;
        while (at < end) {
            append(bits, at++, true);
        }
    }

    /**
     * Appends bits of another bitmap.
     *
     * @param first first bit of the source
     * @return number of zeros among them
     */
    static int append(ByteList bits, int size, byte[] source, int first, int count) {
        int zeros = 0;
        for (int i = 0; i < count; i++) {
            boolean value = (source[(first + i) >>> 3] >>> ((first + i) & 7) & 1) == 1;
            append(bits, size + i, value);
            zeros += value ? 0 : 1;
        }
        return zeros;
    }

    static boolean isSet(ByteList bits, int at) {
        return (bits.get(at / 8) >>> (at % 8) & 1) == 1;
    }

    /** Removes the bits from this one on. */
    static void truncate(ByteList bits, int size) {
        int bytes = (size + 7) / 8;
        bits.truncate(bytes);
        if (size % 8 != 0) {
            bits.set(bytes - 1, bits.get(bytes - 1) & ((1 << (size % 8)) - 1));
        }
    }
}

package dev.stoker.schemas.crc;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/**
 * Computes the CRC-32C (Castagnoli) of buffers and of concatenations. A checksum is an {@code int} with the 32 bits.
 * Stateless and thread-safe.
 *
 * <p>{@code crc(A‖B) = crc(A)·x^(8·|B|) + crc(B)} modulo the polynomial. {@code x^(8·n)} comes from two tables of
 * 65,536 and 32,768 entries (the low 16 and high 15 bits of the length). The product is one carry-less multiplication:
 * integer multiplications whose operands have three zero bits between any two used bits, and four table look-ups for
 * the reduction. This takes about 10 ns for lengths below 64 KiB, and twice that above.
 */
public final class Crc32cs {
    private static final Pattern DIGITS = Pattern.compile("[0-9a-f]{8}");

    /** The Castagnoli polynomial, reflected: bit 31 is x^0. */
    private static final int POLYNOMIAL = 0x82F63B78;

    /** x^0 in reflected order. */
    private static final int ONE = 0x80000000;

    private static final int LOW_BITS = 16;

    /** {@code REDUCE[256·k + b]}: the byte b followed by k + 1 zero bytes. */
    private static final int[] REDUCE = reduceTable();

    /** {@code LOW[n] = x^(8·n)}, {@code HIGH[n] = x^(8·65536·n)}. */
    private static final int[] LOW = new int[1 << LOW_BITS];

    private static final int[] HIGH = new int[1 << (31 - LOW_BITS)];

    static {
        int power = ONE;
        for (int n = 0; n < LOW.length; n++) {
            LOW[n] = power;
            power = (power >>> 8) ^ REDUCE[power & 0xFF];
        }
        int step = power;
        power = ONE;
        for (int n = 0; n < HIGH.length; n++) {
            HIGH[n] = power;
            power = multiply(power, step);
        }
    }

    private Crc32cs() {}

    /**
     * Returns the checksum of A followed by B.
     *
     * @param crcA checksum of A
     * @param crcB checksum of B
     * @param lengthB bytes of B, at most 2^31-1
     */
    public static int combine(int crcA, int crcB, long lengthB) {
        if (lengthB < 0 || lengthB > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("length " + lengthB + " is not between 0 and 2^31-1");
        }
        int length = (int) lengthB;
        int shifted = multiply(crcA, LOW[length & 0xFFFF]);
        int high = length >>> LOW_BITS;
        return (high == 0 ? shifted : multiply(shifted, HIGH[high])) ^ crcB;
    }

    /** Returns the checksum of the bytes between position and limit. Does not change the buffer. */
    public static int of(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate());
        return (int) crc.getValue();
    }

    /** Returns the checksum of a part of an array. */
    public static int of(byte[] bytes, int offset, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, offset, length);
        return (int) crc.getValue();
    }

    /** Returns the checksum of a whole array. */
    public static int of(byte[] bytes) {
        return of(bytes, 0, bytes.length);
    }

    /** Formats a checksum as eight lower-case hexadecimal digits. */
    public static String hex(int crc) {
        return HexFormat.of().toHexDigits(crc);
    }

    /**
     * Reads eight lower-case hexadecimal digits.
     *
     * @throws IllegalArgumentException if the text has another form
     */
    public static int parse(String text) {
        if (!DIGITS.matcher(text).matches()) {
            throw new IllegalArgumentException("'" + text + "' is not 8 lower-case hex digits");
        }
        return Integer.parseUnsignedInt(text, 16);
    }

    /** Returns the product of two reflected polynomials of degree below 32, modulo the polynomial. */
    private static int multiply(int left, int right) {
        long a = left & 0xFFFFFFFFL;
        long b = right & 0xFFFFFFFFL;
        // Four interleaved operands with every fourth bit used: a column of a product sums at most 8 ones, so no
        // carry reaches the next used bit.
        long a0 = a & 0x11111111L;
        long a1 = a & 0x22222222L;
        long a2 = a & 0x44444444L;
        long a3 = a & 0x88888888L;
        long b0 = b & 0x11111111L;
        long b1 = b & 0x22222222L;
        long b2 = b & 0x44444444L;
        long b3 = b & 0x88888888L;
        long p0 = (a0 * b0) ^ (a1 * b3) ^ (a2 * b2) ^ (a3 * b1);
        long p1 = (a0 * b1) ^ (a1 * b0) ^ (a2 * b3) ^ (a3 * b2);
        long p2 = (a0 * b2) ^ (a1 * b1) ^ (a2 * b0) ^ (a3 * b3);
        long p3 = (a0 * b3) ^ (a1 * b2) ^ (a2 * b1) ^ (a3 * b0);
        long product = (p0 & 0x1111111111111111L)
                | (p1 & 0x2222222222222222L)
                | (p2 & 0x4444444444444444L)
                | (p3 & 0x8888888888888888L);
        product <<= 1;
        int excess = (int) product;
        return (int) (product >>> 32)
                ^ REDUCE[768 + (excess & 0xFF)]
                ^ REDUCE[512 + ((excess >>> 8) & 0xFF)]
                ^ REDUCE[256 + ((excess >>> 16) & 0xFF)]
                ^ REDUCE[excess >>> 24];
    }

    private static int[] reduceTable() {
        int[] table = new int[4 * 256];
        for (int b = 0; b < 256; b++) {
            int crc = b;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc >>> 1) ^ (POLYNOMIAL & -(crc & 1));
            }
            table[b] = crc;
        }
        for (int b = 256; b < table.length; b++) {
            int before = table[b - 256];
            table[b] = (before >>> 8) ^ table[before & 0xFF];
        }
        return table;
    }
}

package dev.stoker.formats.parquet.page;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Decodes Parquet's hybrid of runs and bit-packed integers. */
public final class HybridDecoder {
    private final ByteBuffer in;
    private final int bitWidth;
    private int runLeft;
    private int runValue;
    private long packedLeft;

    /** The next bit of the packed integers, from the position of the buffer on. */
    private long packedBit;

    /** @param bitWidth bits of an integer, 0 to 32 */
    HybridDecoder(ByteBuffer in, int bitWidth) throws IOException {
        if (bitWidth > 32) {
            throw new IOException("its indexes have " + bitWidth + " bits");
        }
        this.in = in.slice().order(ByteOrder.LITTLE_ENDIAN);
        this.bitWidth = bitWidth;
    }

    /** Decodes {@code count} integers. */
    public void read(int[] dst, int count) throws IOException {
        int done = 0;
        while (done < count) {
            if (runLeft > 0) {
                int n = Math.min(runLeft, count - done);
                Arrays.fill(dst, done, done + n, runValue);
                runLeft -= n;
                done += n;
            } else if (packedLeft > 0) {
                int n = (int) Math.min(packedLeft, count - done);
                unpack(dst, done, n);
                packedLeft -= n;
                if (packedLeft == 0) {
                    in.position(in.position() + (int) (packedBit / 8));
                }
                done += n;
            } else {
                nextRun();
            }
        }
    }

    /**
     * Moves over integers if they are a run of one value.
     *
     * @return false if they may be something else; nothing was decoded then
     */
    public boolean skipRun(int value, int count) throws IOException {
        if (runLeft == 0 && packedLeft == 0) {
            nextRun();
        }
        if (runLeft < count || runValue != value) {
            return false;
        }
        runLeft -= count;
        return true;
    }

    private void unpack(int[] dst, int from, int count) throws IOException {
        if (packedBit + (long) count * bitWidth > 8L * in.remaining()) {
            throw new IOException("its levels or indexes end too early");
        }
        long mask = (1L << bitWidth) - 1;
        int start = in.position();
        long bit = packedBit;
        int i = 0;
        // An integer and the bits before it in its first byte have at most 39 bits.
        for (; i < count && start + (bit >>> 3) + 8 <= in.limit(); i++) {
            dst[from + i] = (int) ((in.getLong(start + (int) (bit >>> 3)) >>> (bit & 7)) & mask);
            bit += bitWidth;
        }
        for (; i < count; i++) {
            dst[from + i] = (int) ((last(start + (int) (bit >>> 3)) >>> (bit & 7)) & mask);
            bit += bitWidth;
        }
        packedBit = bit;
    }

    /** Returns the last bytes from an index on, fewer than 8. */
    private long last(int index) {
        long value = 0;
        for (int at = in.limit() - 1; at >= index; at--) {
            value = (value << 8) | (in.get(at) & 0xffL);
        }
        return value;
    }

    private void nextRun() throws IOException {
        packedBit = 0;
        int header = Varints.unsignedInt(in);
        if ((header & 1) != 0) {
            packedLeft = (header >>> 1) * 8L;
        } else {
            runLeft = header >>> 1;
            int bytes = (bitWidth + 7) / 8;
            if (in.remaining() < bytes) {
                throw new IOException("its levels or indexes end too early");
            }
            runValue = 0;
            for (int i = 0; i < bytes; i++) {
                runValue |= (in.get() & 0xff) << (8 * i);
            }
        }
        if (packedLeft == 0 && runLeft == 0) {
            throw new IOException("it has an empty run of levels or indexes");
        }
    }
}

package dev.stoker.formats.parquet;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Decodes Parquet's hybrid of runs and bit-packed integers. */
final class HybridDecoder {
    private final ByteBuffer in;
    private final int bitWidth;
    private int runLeft;
    private int runValue;
    private long packedLeft;
    private long bits;
    private int bitCount;

    /** @param bitWidth bits of an integer, 0 to 32 */
    HybridDecoder(ByteBuffer in, int bitWidth) throws IOException {
        if (bitWidth > 32) {
            throw new IOException("its indexes have " + bitWidth + " bits");
        }
        this.in = in;
        this.bitWidth = bitWidth;
    }

    /** Decodes {@code count} integers. */
    void read(int[] dst, int count) throws IOException {
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
    boolean skipRun(int value, int count) throws IOException {
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
        long mask = (1L << bitWidth) - 1;
        for (int i = 0; i < count; i++) {
            while (bitCount < bitWidth) {
                if (!in.hasRemaining()) {
                    throw new IOException("its levels or indexes end too early");
                }
                bits |= (in.get() & 0xffL) << bitCount;
                bitCount += 8;
            }
            dst[from + i] = (int) (bits & mask);
            bits >>>= bitWidth;
            bitCount -= bitWidth;
        }
    }

    private void nextRun() throws IOException {
        bits = 0;
        bitCount = 0;
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

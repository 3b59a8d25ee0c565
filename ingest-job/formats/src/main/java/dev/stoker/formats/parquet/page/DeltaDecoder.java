package dev.stoker.formats.parquet.page;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Decodes DELTA_BINARY_PACKED integers. */
final class DeltaDecoder implements PageDecoder {
    private static final int MAX_BLOCK = 1 << 24;

    private final ByteBuffer in;
    private final boolean narrow;
    private final int miniBlocks;
    private final int miniBlockSize;
    private final byte[] widths;
    private long left;
    private long value;
    private boolean first = true;
    private long minDelta;
    private int miniBlock;
    private int inMiniBlock;
    private int bit;

    /**
     * Reads the header.
     *
     * @param narrow whether the values are INT32, whose sums overflow at 32 bits
     */
    DeltaDecoder(ByteBuffer in, boolean narrow) throws IOException {
        this.in = in;
        this.narrow = narrow;
        long blockSize = Varints.unsignedLong(in);
        long count = Varints.unsignedLong(in);
        left = Varints.unsignedLong(in);
        value = Varints.zigZag(in);
        if (count < 1 || blockSize < 1 || blockSize > MAX_BLOCK || blockSize % count != 0) {
            throw new IOException("its delta header has blocks of " + blockSize + " values in " + count + " parts");
        }
        miniBlocks = (int) count;
        miniBlockSize = (int) (blockSize / count);
        if (miniBlockSize % 8 != 0 || miniBlocks > in.capacity()) {
            throw new IOException("its delta header has parts of " + miniBlockSize + " values");
        }
        widths = new byte[miniBlocks];
        miniBlock = miniBlocks;
        inMiniBlock = miniBlockSize;
    }

    /** Returns how many values are left, as the header says. */
    long left() {
        return left;
    }

    @Override
    public int read(ValueBatch batch, int max) throws IOException {
        read(batch.longs, max);
        return max;
    }

    @Override
    public void end() throws IOException {
        if (left != 0) {
            throw new IOException("its delta header declares " + left + " values more than its page has");
        }
    }

    void read(long[] dst, int count) throws IOException {
        if (count > left) {
            throw new IOException("its values end too early");
        }
        for (int i = 0; i < count; i++) {
            if (first) {
                first = false;
            } else {
                value += minDelta() + next();
            }
            dst[i] = narrow ? (int) value : value;
        }
        left -= count;
        if (left == 0) {
            skipPadding();
        }
    }

    private long minDelta() throws IOException {
        if (inMiniBlock == miniBlockSize) {
            endMiniBlock();
            if (miniBlock >= miniBlocks - 1) {
                minDelta = Varints.zigZag(in);
                if (in.remaining() < miniBlocks) {
                    throw new IOException("its values end too early");
                }
                in.get(widths);
                miniBlock = 0;
            } else {
                miniBlock++;
            }
            inMiniBlock = 0;
            bit = 0;
        }
        return minDelta;
    }

    private long next() throws IOException {
        int width = widths[miniBlock];
        if (width < 0 || width > 64) {
            throw new IOException("its delta values have " + width + " bits");
        }
        inMiniBlock++;
        long result = 0;
        for (int got = 0; got < width; ) {
            int at = in.position() + (bit >>> 3);
            if (at >= in.limit()) {
                throw new IOException("its values end too early");
            }
            int shift = bit & 7;
            int n = Math.min(8 - shift, width - got);
            result |= (long) (((in.get(at) & 0xff) >>> shift) & ((1 << n) - 1)) << got;
            got += n;
            bit += n;
        }
        return result;
    }

    /** Moves the buffer behind the bits of the miniblock that has been read. */
    private void endMiniBlock() throws IOException {
        if (miniBlock < miniBlocks) {
            long bytes = (long) miniBlockSize * widths[miniBlock] / 8;
            if (bytes > in.remaining()) {
                throw new IOException("its values end too early");
            }
            in.position(in.position() + (int) bytes);
        }
    }

    /** Leaves the buffer behind the last miniblock, where the bytes of the delta encodings of BINARY begin. */
    private void skipPadding() throws IOException {
        if (miniBlock < miniBlocks) {
            // Some writers cut off the padding of the last miniblock.
            long bytes = (long) miniBlockSize * widths[miniBlock] / 8;
            in.position((int) Math.min(in.limit(), in.position() + bytes));
            miniBlock = miniBlocks;
        }
    }
}

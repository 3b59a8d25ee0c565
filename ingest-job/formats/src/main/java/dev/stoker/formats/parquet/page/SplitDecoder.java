package dev.stoker.formats.parquet.page;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Decodes BYTE_STREAM_SPLIT: the first byte of every value, then the second byte of every value, and so on. */
final class SplitDecoder implements PageDecoder {
    private final ByteBuffer in;
    private final Leaf leaf;
    private final int width;
    private final int count;
    private int done;

    SplitDecoder(ByteBuffer in, Leaf leaf) throws IOException {
        this.in = in.slice();
        this.leaf = leaf;
        width = leaf.width();
        if (width == 0) {
            throw new IOException("its values cannot have the encoding BYTE_STREAM_SPLIT");
        }
        count = in.remaining() / width;
    }

    @Override
    public int read(ValueBatch batch, int max) throws IOException {
        if (max > count - done) {
            throw new IOException("its values end too early");
        }
        ByteBuffer plain = ByteBuffer.allocate(width * max).order(ByteOrder.LITTLE_ENDIAN);
        for (int b = 0; b < width; b++) {
            for (int i = 0; i < max; i++) {
                plain.put(i * width + b, in.get(b * count + done + i));
            }
        }
        done += max;
        return new PlainDecoder(plain, leaf).read(batch, max);
    }

    @Override
    public void end() throws IOException {
        PageDecoder.requireEnd(in.remaining() - (long) done * width);
    }
}

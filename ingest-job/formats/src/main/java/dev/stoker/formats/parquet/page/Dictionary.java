package dev.stoker.formats.parquet.page;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The distinct values of a column chunk. */
final class Dictionary {
    private final ValueBatch.Physical physical;
    private final int size;
    private final long[] longs;
    private final double[] doubles;
    private final int[] offsets;
    private final int[] lengths;
    private byte[] bytes = new byte[0];

    /** @param size number of values; the caller has checked it against the length of the page */
    Dictionary(ByteBuffer page, int size, Leaf leaf) throws IOException {
        this.size = size;
        physical = leaf.physical();
        longs = new long[physical == ValueBatch.Physical.LONG ? size : 0];
        doubles = new double[physical == ValueBatch.Physical.DOUBLE ? size : 0];
        offsets = new int[physical == ValueBatch.Physical.BYTES ? size : 0];
        lengths = new int[physical == ValueBatch.Physical.BYTES ? size : 0];
        PlainDecoder decoder = new PlainDecoder(page, leaf);
        ValueBatch batch = new ValueBatch(physical);
        for (int done = 0; done < size; ) {
            int n = decoder.read(batch, Math.min(ValueBatch.SIZE, size - done));
            switch (physical) {
                case LONG -> System.arraycopy(batch.longs, 0, longs, done, n);
                case DOUBLE -> System.arraycopy(batch.doubles, 0, doubles, done, n);
                case BYTES -> {
                    System.arraycopy(batch.offsets, 0, offsets, done, n);
                    System.arraycopy(batch.lengths, 0, lengths, done, n);
                    bytes = batch.bytes;
                }
            }
            done += n;
        }
    }

    /** Returns a decoder of a page that has indexes into this dictionary. */
    PageDecoder decoder(ByteBuffer page) throws IOException {
        if (!page.hasRemaining()) {
            throw new IOException("its page of indexes is empty");
        }
        HybridDecoder indexes = new HybridDecoder(page, page.get() & 0xff);
        int[] ids = new int[ValueBatch.SIZE];
        return (batch, max) -> {
            indexes.read(ids, max);
            for (int i = 0; i < max; i++) {
                if (ids[i] < 0 || ids[i] >= size) {
                    throw new IOException("index " + Integer.toUnsignedString(ids[i]) + " is beyond its dictionary of "
                            + size + " values");
                }
            }
            look(batch, ids, max);
            return max;
        };
    }

    private void look(ValueBatch batch, int[] ids, int count) {
        switch (physical) {
            case LONG -> {
                for (int i = 0; i < count; i++) {
                    batch.longs[i] = longs[ids[i]];
                }
            }
            case DOUBLE -> {
                for (int i = 0; i < count; i++) {
                    batch.doubles[i] = doubles[ids[i]];
                }
            }
            case BYTES -> {
                batch.bytes = bytes;
                for (int i = 0; i < count; i++) {
                    batch.offsets[i] = offsets[ids[i]];
                    batch.lengths[i] = lengths[ids[i]];
                }
            }
        }
    }
}

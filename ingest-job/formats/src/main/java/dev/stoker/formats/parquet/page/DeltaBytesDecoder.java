package dev.stoker.formats.parquet.page;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Decodes DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY, in which a value shares a prefix with the one before it. */
final class DeltaBytesDecoder implements PageDecoder {
    private static final int BATCH_BYTES = 1 << 20;

    private final @Nullable DeltaDecoder prefixes;
    private final DeltaDecoder suffixes;
    private final ByteBuffer bytes;
    private final long maxValue;
    private final long[] prefix = new long[1];
    private final long[] suffix = new long[1];
    private byte[] last = new byte[0];

    private DeltaBytesDecoder(@Nullable DeltaDecoder prefixes, DeltaDecoder suffixes, ByteBuffer bytes, long maxValue) {
        this.prefixes = prefixes;
        this.suffixes = suffixes;
        this.bytes = bytes;
        this.maxValue = Math.min(maxValue, Integer.MAX_VALUE - 16);
    }

    /** @param values number of values in the page, including nulls */
    static PageDecoder lengths(ByteBuffer page, int values, long maxValue) throws IOException {
        ByteBuffer lengths = page.slice();
        ByteBuffer bytes = behind(lengths, values);
        return new DeltaBytesDecoder(null, new DeltaDecoder(page.slice(), true), bytes, maxValue);
    }

    /** @param values number of values in the page, including nulls */
    static PageDecoder prefixes(ByteBuffer page, int values, long maxValue) throws IOException {
        ByteBuffer first = page.slice();
        ByteBuffer second = behind(first.duplicate(), values);
        ByteBuffer bytes = behind(second.duplicate(), values);
        return new DeltaBytesDecoder(new DeltaDecoder(first, true), new DeltaDecoder(second, true), bytes, maxValue);
    }

    /** Returns what follows a run of delta-encoded integers. */
    private static ByteBuffer behind(ByteBuffer run, int count) throws IOException {
        DeltaDecoder decoder = new DeltaDecoder(run, true);
        if (decoder.left() < 0 || decoder.left() > count) {
            throw new IOException("its delta header declares " + decoder.left() + " values in a page of " + count);
        }
        long[] values = new long[ValueBatch.SIZE];
        while (decoder.left() > 0) {
            decoder.read(values, (int) Math.min(values.length, decoder.left()));
        }
        return run.slice();
    }

    @Override
    public int read(ValueBatch batch, int max) throws IOException {
        return prefixes == null ? slices(batch, max) : joined(prefixes, batch, max);
    }

    private int slices(ValueBatch batch, int max) throws IOException {
        batch.bytes = bytes.array();
        for (int i = 0; i < max; i++) {
            suffixes.read(suffix, 1);
            need(suffix[0]);
            batch.offsets[i] = bytes.arrayOffset() + bytes.position();
            batch.lengths[i] = (int) suffix[0];
            bytes.position(bytes.position() + (int) suffix[0]);
        }
        return max;
    }

    private int joined(DeltaDecoder shared, ValueBatch batch, int max) throws IOException {
        byte[] out = new byte[256];
        int filled = 0;
        int count = 0;
        while (count < max && (count == 0 || filled < BATCH_BYTES)) {
            shared.read(prefix, 1);
            suffixes.read(suffix, 1);
            need(suffix[0]);
            if (prefix[0] < 0 || prefix[0] > last.length) {
                throw new IOException("a value shares " + prefix[0] + " bytes with one of " + last.length + " bytes");
            }
            long length = prefix[0] + suffix[0];
            if (length > maxValue) {
                throw new IOException("a value has " + length + " bytes; the limit is " + maxValue);
            }
            byte[] value = Arrays.copyOf(last, (int) length);
            bytes.get(value, (int) prefix[0], (int) suffix[0]);
            if (filled + length > out.length) {
                out = Arrays.copyOf(out, (int) Math.min(Integer.MAX_VALUE - 16, 2 * (filled + length)));
            }
            System.arraycopy(value, 0, out, filled, (int) length);
            batch.offsets[count] = filled;
            batch.lengths[count++] = (int) length;
            filled += (int) length;
            last = value;
        }
        batch.bytes = out;
        return count;
    }

    @Override
    public void end() throws IOException {
        PageDecoder.requireEnd(bytes.remaining());
    }

    private void need(long count) throws IOException {
        if (count < 0 || count > bytes.remaining()) {
            throw new IOException("its values end too early");
        }
    }
}

package dev.stoker.formats.mds;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.input.ByteInput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reads a shard from its start to its end. All numbers are little-endian uint32. Not thread-safe.
 *
 * <table>
 * <caption>Layout</caption>
 * <tr><td>0</td><td>number of samples n</td></tr>
 * <tr><td>4</td><td>n + 1 offsets: where each sample begins, and the end of the file</td></tr>
 * <tr><td>4 + 4 (n + 1)</td><td>description of the columns, JSON</td></tr>
 * <tr><td>first offset</td><td>samples: the lengths of the values whose length differs, then the values</td></tr>
 * </table>
 */
final class MdsShard {
    private static final int MAX_CONFIG = 64 << 20;
    private static final int KEEP = 1 << 24;

    private final ByteInput in;
    private final ReadLimits limits;
    private final int[] offsets;
    private final MdsConfig config;
    private final ByteBuffer[] values;
    private byte[] reuse = new byte[1 << 12];
    private int next;

    MdsShard(ByteInput in, ReadLimits limits) throws IOException {
        this.in = in;
        this.limits = limits;
        long samples = in.read(4, "the number of samples").getInt() & 0xFFFFFFFFL;
        long head = 4 * (samples + 1);
        if (head > limits.memoryBytes() || head > Integer.MAX_VALUE - 64) {
            throw new UnsupportedFileException(
                    in.name() + " says that it has " + samples + " samples, whose offsets need " + head
                            + " bytes of memory; the limit is " + limits.memoryBytes());
        }
        ByteBuffer table = in.read(head, "the offsets of the samples");
        offsets = new int[(int) samples + 1];
        table.asIntBuffer().get(offsets);
        long configBytes = offset(0) - 4 - head;
        if (configBytes < 2 || configBytes > MAX_CONFIG) {
            throw damaged("the first sample is at offset " + offset(0));
        }
        for (int i = 1; i < offsets.length; i++) {
            if (offset(i) < offset(i - 1)) {
                throw damaged("sample " + i + " is at offset " + offset(i) + ", before the one before it");
            }
        }
        ByteBuffer json = in.read(configBytes, "the description of the columns");
        byte[] text = new byte[json.remaining()];
        json.get(text);
        config = MdsConfig.parse(in.name(), text);
        for (int i = 0; i < config.names().size(); i++) {
            int expected = MdsColumns.size(config.encodings().get(i));
            if (expected != 0 && config.sizes().get(i) != expected) {
                throw damaged("values of column " + config.names().get(i) + " have "
                        + config.sizes().get(i) + " bytes, but its encoding "
                        + config.encodings().get(i) + " has " + expected);
            }
        }
        values = new ByteBuffer[config.names().size()];
    }

    MdsConfig config() {
        return config;
    }

    int samples() {
        return offsets.length - 1;
    }

    private long offset(int sample) {
        return offsets[sample] & 0xFFFFFFFFL;
    }

    /** Returns the memory for the largest sample. */
    long largestSample() {
        long largest = 0;
        for (int i = 1; i < offsets.length; i++) {
            largest = Math.max(largest, offset(i) - offset(i - 1));
        }
        return largest;
    }

    /** Reads the next sample. Returns false at the end. */
    @SuppressWarnings("ByteBufferBackingArray") // The input fills whole arrays.
    boolean next() throws IOException {
        if (next == samples()) {
            if (!in.atEnd()) {
                throw damaged("there are bytes behind the last sample");
            }
            return false;
        }
        long bytes = offset(next + 1) - offset(next);
        if (bytes > Math.min(limits.memoryBytes(), Integer.MAX_VALUE - 64)) {
            throw new UnsupportedFileException(in.name() + ": sample " + next + " needs " + bytes
                    + " bytes of memory; the limit is " + limits.memoryBytes());
        }
        ByteBuffer sample = in.read(bytes, "sample " + next, reuse);
        reuse = sample.array().length <= KEEP ? sample.array() : reuse;
        next++;
        divide(sample);
        return true;
    }

    private void divide(ByteBuffer sample) throws DamagedFileException {
        int lengths = 0;
        for (int size : config.sizes()) {
            lengths += size == 0 ? 4 : 0;
        }
        int lengthAt = 0;
        long at = lengths;
        for (int i = 0; i < values.length; i++) {
            long size = config.sizes().get(i);
            if (size == 0) {
                size = lengthAt + 4 <= sample.limit() ? sample.getInt(lengthAt) & 0xFFFFFFFFL : Long.MAX_VALUE >> 1;
                lengthAt += 4;
            }
            if (size > sample.limit() - at) {
                throw damaged(
                        "column " + config.names().get(i) + " of sample " + (next - 1) + " is longer than the sample");
            }
            values[i] = sample.slice((int) at, (int) size).order(ByteOrder.LITTLE_ENDIAN);
            at += size;
        }
        if (at != sample.limit()) {
            throw damaged("sample " + (next - 1) + " has " + (sample.limit() - at) + " bytes behind its values");
        }
    }

    /** Returns the number of the sample. */
    long number() {
        return next - 1L;
    }

    /** Returns the values of the sample in the order of the description, valid until the next one. */
    ByteBuffer[] values() {
        return values;
    }

    DamagedFileException damaged(String reason) {
        return MdsConfig.damaged(in.name(), reason);
    }
}

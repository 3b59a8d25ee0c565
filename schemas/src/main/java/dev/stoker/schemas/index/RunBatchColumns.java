package dev.stoker.schemas.index;

import dev.stoker.schemas.arrow.RecordBatchLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Collects the rows of one record batch of a run. Not thread-safe. */
final class RunBatchColumns {

    private final int[] ends = new int[RunFormat.BATCH_ROWS];
    private final int[] ordinals = new int[RunFormat.BATCH_ROWS];
    private final int[] rowNumbers = new int[RunFormat.BATCH_ROWS];
    private final int[] lengths = new int[RunFormat.BATCH_ROWS];
    private final int[] crcs = new int[RunFormat.BATCH_ROWS];
    private byte[] keys = new byte[1 << 16];
    private int keyBytes;
    private int rows;

    void add(byte[] key, int at, int length, IndexedRow row) throws IOException {
        long needed = (long) keyBytes + length;
        // The other columns take less than a MiB.
        if (needed > RunFormat.MAX_BATCH_BYTES - (1 << 20)) {
            throw new IOException("The keys of " + RunFormat.BATCH_ROWS + " samples of the sample index have more than "
                    + needed + " bytes; 1 GiB is the limit");
        }
        if (needed > keys.length) {
            keys = Arrays.copyOf(keys, (int) Math.max(needed, Math.min(2L * keys.length, RunFormat.MAX_BATCH_BYTES)));
        }
        System.arraycopy(key, at, keys, keyBytes, length);
        keyBytes = (int) needed;
        ends[rows] = keyBytes;
        ordinals[rows] = row.ordinal();
        rowNumbers[rows] = row.row();
        lengths[rows] = row.length();
        crcs[rows] = row.crc32c();
        rows++;
    }

    int rows() {
        return rows;
    }

    void clear() {
        rows = 0;
        keyBytes = 0;
    }

    /** Returns the record batch message. */
    ByteBuffer message() {
        RecordBatchLayout layout = RunFormat.LAYOUT;
        long[] bufferLengths = bufferLengths(rows, keyBytes);
        long[] offsets = new long[bufferLengths.length];
        layout.place(bufferLengths, offsets);
        int length = (int) (layout.headLength() + layout.bodyLength(bufferLengths));
        ByteBuffer message = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        writeHead(message, rows, bufferLengths, offsets);
        RunFormat.Positions at = RunFormat.Positions.of(rows);
        message.position(at.offsets() + 4).asIntBuffer().put(ends, 0, rows);
        message.position(at.ordinals()).asIntBuffer().put(ordinals, 0, rows);
        message.position(at.rows()).asIntBuffer().put(rowNumbers, 0, rows);
        message.position(at.lengths()).asIntBuffer().put(lengths, 0, rows);
        message.position(at.crcs()).asIntBuffer().put(crcs, 0, rows);
        message.position(at.keys()).put(keys, 0, keyBytes);
        return message.position(0).limit(length);
    }

    /** Writes the head of a message that has these buffers. */
    static void writeHead(ByteBuffer message, int rows, long[] bufferLengths, long[] offsets) {
        int nodes = RunFormat.LAYOUT.nodes();
        long[] nodeLengths = new long[nodes];
        Arrays.fill(nodeLengths, rows);
        RunFormat.LAYOUT.writeHead(message, rows, nodeLengths, new long[nodes], offsets, bufferLengths);
    }

    /** Returns the lengths of the buffers of a batch. */
    static long[] bufferLengths(int rows, long keyBytes) {
        long[] lengths = new long[RunFormat.LAYOUT.buffers()];
        lengths[RunFormat.LAYOUT.offsetsBuffer(0)] = 4L * (rows + 1);
        lengths[RunFormat.LAYOUT.valuesBuffer(0)] = keyBytes;
        for (int column = 1; column < RunFormat.LAYOUT.columns(); column++) {
            lengths[RunFormat.LAYOUT.valuesBuffer(column)] = 4L * rows;
        }
        return lengths;
    }
}

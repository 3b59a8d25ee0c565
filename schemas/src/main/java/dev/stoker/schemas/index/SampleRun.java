package dev.stoker.schemas.index;

import dev.stoker.schemas.arrow.ArrowFooter;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Reads a run: finds keys by their hash, and rows in the order of their keys. Opening reads the end and the beginning
 * of the file. Each batch and each block of the hash table is verified when it is used for the first time. Thread-safe.
 *
 * <p>Rows are numbered from 0. Row numbers are not checked: outside the run, the result is undefined or an exception.
 */
public final class SampleRun {

    static final String ADVICE = "build the index again with: stoker index DATASET --rebuild";

    /** Bytes of parts that a run keeps if they take memory. */
    private static final long MEMORY_BYTES = 64L << 20;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private static final RunFormat.Positions FULL = RunFormat.Positions.of(RunFormat.BATCH_ROWS);
    private static final int ROW_MASK = RunFormat.BATCH_ROWS - 1;
    private static final int ROW_SHIFT = Integer.numberOfTrailingZeros(RunFormat.BATCH_ROWS);
    private static final int LINE_MASK = RunFormat.BLOCK_LINES - 1;
    private static final int LINE_SHIFT = Integer.numberOfTrailingZeros(RunFormat.BLOCK_LINES);
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = 0x8080808080808080L;
    private static final long UPPER_HALF = 0xFFFFFFFF00000000L;

    private final RunSource file;
    private final RunFooter footer;
    private final long rows;
    private final long buckets;
    private final int batchCount;
    private final RunFormat.Positions last;
    /** Verified parts: the batches, then the blocks of lines. */
    private final AtomicReferenceArray<ByteBuffer> parts;

    /** Guards {@link #memoryBytes} and the removal of parts. */
    private final Object memory = new Object();

    private long memoryBytes;

    private SampleRun(RunSource file, RunFooter footer) {
        this.file = file;
        this.footer = footer;
        this.rows = footer.rows();
        this.buckets = RunFormat.buckets(footer.keys());
        this.batchCount = footer.batches().size();
        this.last = RunFormat.Positions.of(footer.batchRows(batchCount - 1));
        this.parts = new AtomicReferenceArray<>(Math.addExact(batchCount, (int) RunFormat.lineBlocks(footer.lines())));
    }

    /**
     * Opens a run.
     *
     * @throws CorruptDataException if the file is damaged or truncated
     * @throws ForeignFileException if it is not a run
     * @throws dev.stoker.schemas.errors.FormatTooNewException if a newer Stoker wrote it
     */
    public static SampleRun open(RunSource file) throws IOException {
        return new SampleRun(file, RunFooter.read(file));
    }

    /**
     * Checks that the run is the expected one.
     *
     * @throws ForeignFileException if it belongs to another dataset, or to other versions or chunks
     */
    public void require(RunIdentity expected) throws ForeignFileException {
        if (!identity().equals(expected)) {
            throw new ForeignFileException(file.name(), "the index run of " + expected, "it is of " + identity());
        }
    }

    public RunIdentity identity() {
        return footer.identity();
    }

    /** Returns the number of rows. */
    public long rows() {
        return rows;
    }

    /** Returns the file's name as the user knows it. */
    public String name() {
        return file.name();
    }

    /** Verifies every part that was not verified before. */
    public void verifyAll() throws IOException {
        for (int part = 0; part < parts.length(); part++) {
            part(part);
        }
    }

    /**
     * Returns the first row with this key, or -1. Further rows with the same key follow it.
     *
     * @param key UTF-8 of the key
     */
    public long find(byte[] key) throws IOException {
        int hash = RunFormat.hash(key, 0, key.length);
        long pattern = (hash & 0xFF) * ONES;
        for (long line = RunFormat.home(hash, buckets); ; line++) {
            ByteBuffer block = part(batchCount + (int) (line >>> LINE_SHIFT));
            int at = (int) (line & LINE_MASK) * RunFormat.LINE_BYTES;
            int state = block.getInt(at + RunFormat.COUNT_AT);
            int count = state & 0xFF;
            long found = findIn(block, at, count, pattern, key);
            if (found >= 0) {
                return found;
            }
            // The byte after the count says whether a key is in a later line.
            if ((state & 0xFF00) == 0) {
                return -1;
            }
            if (line >= footer.lines() || count != RunFormat.SLOTS) {
                throw corrupt("line " + line + " of the hash table is continued, but it is the last one or not full");
            }
        }
    }

    private long findIn(ByteBuffer block, int at, int count, long pattern, byte[] key) throws IOException {
        long first = zeros(block.getLong(at + RunFormat.TAGS_AT) ^ pattern);
        // The upper half has no zeros.
        long more = zeros((block.getInt(at + RunFormat.TAGS_AT + 8) ^ (int) pattern) | UPPER_HALF);
        while (first != 0 || more != 0) {
            int slot;
            if (first != 0) {
                slot = Long.numberOfTrailingZeros(first) >>> 3;
                first &= first - 1;
            } else {
                slot = 8 + (Long.numberOfTrailingZeros(more) >>> 3);
                more &= more - 1;
            }
            if (slot >= count) {
                return -1;
            }
            long row = block.getInt(at + 4 * slot) & 0xFFFFFFFFL;
            if (row >= rows) {
                throw corrupt("the hash table names row " + row + " of " + rows);
            }
            if (hasKey(row, key)) {
                return row;
            }
        }
        return -1;
    }

    /** Sets the high bit of each byte that is zero, and perhaps of bytes above such a byte. */
    private static long zeros(long bytes) {
        return (bytes - ONES) & ~bytes & HIGHS;
    }

    /** Returns whether a row has this key. */
    public boolean hasKey(long row, byte[] key) throws IOException {
        ByteBuffer batch = batch(row);
        RunFormat.Positions positions = positions(row);
        int index = (int) row & ROW_MASK;
        int at = positions.offsets() + 4 * index;
        int begin = batch.getInt(at);
        int length = batch.getInt(at + 4) - begin;
        if (length != key.length) {
            return false;
        }
        begin += positions.keys();
        int i = 0;
        for (; i <= length - Long.BYTES; i += Long.BYTES) {
            if (batch.getLong(begin + i) != (long) LONGS.get(key, i)) {
                return false;
            }
        }
        for (; i < length; i++) {
            if (batch.get(begin + i) != key[i]) {
                return false;
            }
        }
        return true;
    }

    /** Returns a row's key as UTF-8. */
    public byte[] key(long row) throws IOException {
        ByteBuffer batch = batch(row);
        RunFormat.Positions positions = positions(row);
        int at = positions.offsets() + 4 * ((int) row & ROW_MASK);
        int begin = batch.getInt(at);
        byte[] key = new byte[batch.getInt(at + 4) - begin];
        batch.get(positions.keys() + begin, key);
        return key;
    }

    /** Returns everything about a row but its key. */
    public IndexedRow row(long row) throws IOException {
        ByteBuffer batch = batch(row);
        RunFormat.Positions at = positions(row);
        int index = 4 * ((int) row & ROW_MASK);
        return new IndexedRow(
                batch.getInt(at.ordinals() + index),
                batch.getInt(at.rows() + index),
                batch.getInt(at.lengths() + index),
                batch.getInt(at.crcs() + index));
    }

    /** Returns the first row whose key is at least this one, compared by unsigned bytes; {@link #rows} if none is. */
    public long ceiling(byte[] key) throws IOException {
        return ceiling(key, 0);
    }

    /**
     * Returns the first row from a row on whose key is at least this one; {@link #rows} if none is. Takes time for the
     * logarithm of the distance.
     */
    public long ceiling(byte[] key, long from) throws IOException {
        long low = from;
        long step = 1;
        while (low < rows && compareKey(low, key) < 0) {
            from = low + 1;
            low += step;
            step *= 2;
        }
        long high = Math.min(low, rows);
        low = from;
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (compareKey(middle, key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private int compareKey(long row, byte[] key) throws IOException {
        return Arrays.compareUnsigned(key(row), key);
    }

    private RunFormat.Positions positions(long row) {
        return (int) (row >>> ROW_SHIFT) == batchCount - 1 ? last : FULL;
    }

    private ByteBuffer batch(long row) throws IOException {
        return part((int) (row >>> ROW_SHIFT));
    }

    private ByteBuffer part(int number) throws IOException {
        ByteBuffer part = parts.getAcquire(number);
        return part != null ? part : load(number);
    }

    private ByteBuffer load(int number) throws IOException {
        ByteBuffer part;
        if (number < batchCount) {
            ArrowFooter.Block batch = footer.batches().get(number);
            part = read(batch.position(), (int) (batch.headLength() + batch.bodyLength()));
            footer.check(1 + number, part, "batch " + number, file.name());
            checkBatch(part, number);
        } else {
            int block = number - batchCount;
            long at = footer.linesAt() + (long) block * RunFormat.BLOCK_LINES * RunFormat.LINE_BYTES;
            part = read(at, footer.blockLines(block) * RunFormat.LINE_BYTES);
            footer.check(1 + number, part, "hash table", file.name());
        }
        if (file.takesMemory()) {
            makeRoom(part.limit());
        }
        parts.setRelease(number, part);
        return part;
    }

    private void makeRoom(int length) {
        synchronized (memory) {
            memoryBytes += length;
            if (memoryBytes > MEMORY_BYTES) {
                for (int i = 0; i < parts.length(); i++) {
                    parts.setRelease(i, null);
                }
                memoryBytes = length;
            }
        }
    }

    private ByteBuffer read(long position, int length) throws IOException {
        return file.read(position, length).duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Checks that the columns are where the format places them, and that offsets ascend. */
    private void checkBatch(ByteBuffer batch, int number) throws CorruptDataException {
        int count = footer.batchRows(number);
        RunFormat.Positions at = RunFormat.Positions.of(count);
        if (batch.limit() < at.keys()) {
            throw corrupt("batch " + number + " has " + batch.limit() + " bytes");
        }
        int before = batch.getInt(at.offsets());
        if (before != 0) {
            throw corrupt("the keys of batch " + number + " begin at " + before);
        }
        for (int row = 1; row <= count; row++) {
            int end = batch.getInt(at.offsets() + 4 * row);
            if (end <= before) {
                throw corrupt("row " + (row - 1) + " of batch " + number + " has no key");
            }
            before = end;
        }
        long[] lengths = RunBatchColumns.bufferLengths(count, before);
        long[] offsets = new long[lengths.length];
        RunFormat.LAYOUT.place(lengths, offsets);
        int head = RunFormat.LAYOUT.headLength();
        ByteBuffer expected = ByteBuffer.allocate(head).order(ByteOrder.LITTLE_ENDIAN);
        RunBatchColumns.writeHead(expected, count, lengths, offsets);
        if (batch.limit() != head + RunFormat.LAYOUT.bodyLength(lengths)
                || !batch.slice(0, head).equals(expected.flip())) {
            throw corrupt("the message of batch " + number + " is not the one of " + count + " rows");
        }
    }

    private CorruptDataException corrupt(String detail) {
        return new CorruptDataException(file.name() + " is corrupt: " + detail + "; " + ADVICE);
    }
}

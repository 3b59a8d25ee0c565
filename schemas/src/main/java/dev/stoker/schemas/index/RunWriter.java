package dev.stoker.schemas.index;

import dev.stoker.schemas.arrow.ArrowFooter;
import dev.stoker.schemas.arrow.ArrowHead;
import dev.stoker.schemas.arrow.BatchedFooter;
import dev.stoker.schemas.arrow.RecordBatchLayout;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.crc.SelfChecksum;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a run in one pass over its sorted rows. Keeps one batch, the checksums and, through {@link HashOrder}, the
 * hashes. Not thread-safe. The same rows always give the same bytes.
 */
public final class RunWriter {

    private final RunIdentity identity;
    private final ArrowSchema schema;
    private final RunOutput out;
    private final HashOrder hashes;
    private final RunBatchColumns batch = new RunBatchColumns();
    private final List<ArrowFooter.Block> batches = new ArrayList<>();
    private final Checksums checksums = new Checksums();
    private long position;
    private long rows;
    private long keys;
    private byte[] lastKey = {};
    private int lastLength = -1;
    private int lastOrdinal;

    /**
     * Begins a run.
     *
     * @param hashes an empty one
     */
    public RunWriter(RunIdentity identity, RunOutput out, HashOrder hashes) throws IOException {
        this.identity = identity;
        this.out = out;
        this.hashes = hashes;
        Map<String, String> metadata = new LinkedHashMap<>();
        metadata.put(RunFormat.FORMAT_KEY, Integer.toString(RunFormat.FORMAT));
        metadata.put(RunFormat.DATASET_KEY, identity.dataset().toString());
        metadata.put(RunFormat.FIRST_KEY, Long.toString(identity.first()));
        metadata.put(RunFormat.LAST_KEY, Long.toString(identity.last()));
        metadata.put(RunFormat.CHUNKS_KEY, Crc32cs.hex(identity.chunks()));
        this.schema = new ArrowSchema(RunFormat.FIELDS, metadata);
        write(ByteBuffer.wrap(ArrowHead.opening(schema)));
    }

    /**
     * Adds a row. The key is greater than the one before by its bytes as unsigned numbers, or equal to it, and the
     * ordinal is then less.
     *
     * @param key holds the key's UTF-8
     * @param at where the key begins
     * @param length bytes of the key, at least 1
     * @throws IllegalArgumentException if the row is not in order
     * @throws IOException if the run would exceed a limit of the format, or cannot be written
     */
    public void add(byte[] key, int at, int length, IndexedRow row) throws IOException {
        int order = lastLength < 0 ? 1 : Arrays.compareUnsigned(key, at, at + length, lastKey, 0, lastLength);
        if (order < 0 || (order == 0 && row.ordinal() >= lastOrdinal) || length == 0) {
            throw new IllegalArgumentException("row " + rows + " of the index is out of order");
        }
        if (rows == RunFormat.MAX_ROWS) {
            throw new IOException("A run of the sample index has at most 2^32 rows");
        }
        if (order != 0) {
            hashes.add(RunFormat.hash(key, at, length), rows);
            keys++;
            if (lastKey.length < length) {
                lastKey = new byte[Math.max(length, 2 * lastKey.length)];
            }
            System.arraycopy(key, at, lastKey, 0, length);
            lastLength = length;
        }
        lastOrdinal = row.ordinal();
        batch.add(key, at, length, row);
        rows++;
        if (batch.rows() == RunFormat.BATCH_ROWS) {
            writeBatch();
        }
    }

    /** Returns the number of rows so far. */
    public long rows() {
        return rows;
    }

    /**
     * Completes the run.
     *
     * @throws IllegalStateException if it has no row
     */
    public void finish() throws IOException {
        if (rows == 0) {
            throw new IllegalStateException("a run without rows");
        }
        if (batch.rows() > 0) {
            writeBatch();
        }
        HashLines lines = new HashLines(RunFormat.buckets(keys), this::write);
        hashes.forEach(lines::add);
        long count = lines.finish();
        byte[] sums = checksums.bytes();
        out.write(ByteBuffer.wrap(sums));
        Map<String, String> metadata = new LinkedHashMap<>();
        metadata.put(RunFormat.SELF_KEY, SelfChecksum.PLACEHOLDER);
        metadata.put(RunFormat.ROWS_KEY, Long.toString(rows));
        metadata.put(RunFormat.KEYS_KEY, Long.toString(keys));
        metadata.put(RunFormat.LINES_KEY, Long.toString(count));
        metadata.put(RunFormat.CHECKSUMS_KEY, Crc32cs.hex(Crc32cs.of(sums)));
        byte[] footer = new BatchedFooter(schema, batches, metadata).encode();
        out.write(ByteBuffer.wrap(SelfChecksum.seal(footer)));
    }

    /** Returns the run's identity. */
    public RunIdentity identity() {
        return identity;
    }

    private void writeBatch() throws IOException {
        ByteBuffer message = batch.message();
        int head = RunFormat.LAYOUT.headLength();
        batches.add(new ArrowFooter.Block(position, head, (long) message.remaining() - head));
        write(message);
        batch.clear();
    }

    /** Writes bytes that have one checksum. */
    private void write(ByteBuffer part) throws IOException {
        checksums.add(Crc32cs.of(part));
        position += part.remaining();
        out.write(part);
    }

    /** Collects checksums. */
    private static final class Checksums {
        private ByteBuffer sums = ByteBuffer.allocate(1 << 10).order(ByteOrder.LITTLE_ENDIAN);

        void add(int crc) {
            if (!sums.hasRemaining()) {
                sums = ByteBuffer.allocate(2 * sums.capacity())
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .put(sums.flip());
            }
            sums.putInt(crc);
        }

        /** Returns all checksums, padded with zeros to a multiple of 64. */
        byte[] bytes() {
            return Arrays.copyOf(sums.array(), (int) RecordBatchLayout.align(sums.position()));
        }
    }
}

package dev.stoker.metadata.index;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.index.build.HeadRows;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.index.IndexedRow;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Reads the samples of one version by their places, without an index. Chunks are given by their index in the version's
 * chunk table. Keeps the heads of the chunks used last. Thread-safe.
 */
public final class AddressedSamples {

    private final ChunkTable table;
    private final SampleReads reads;

    public AddressedSamples(Dataset dataset, Snapshot snapshot) {
        this.table = snapshot.table();
        this.reads = new SampleReads(dataset.store(), table);
    }

    /** Returns the head of a chunk with the values of the version. */
    public ChunkHead head(int chunk) throws IOException {
        return reads.head(chunk);
    }

    /**
     * Returns what is known about a sample without reading its payload: the same as the sample index.
     *
     * @throws IllegalArgumentException if the version has no sample in this row
     */
    public SampleStat stat(int chunk, int row) throws IOException {
        requireLive(chunk, row);
        ChunkHead head = reads.storedHead(chunk);
        IndexedRow found = new HeadRows().row(head, table.ordinal(chunk), row);
        return new SampleStat(
                head.key(row), table.split(chunk), table.ordinal(chunk), row, found.length(), found.crc32c());
    }

    /**
     * Reads and verifies the values of a payload field in some rows of a chunk. Values that are close together are read
     * together.
     *
     * @return one value for each row
     * @throws IllegalArgumentException if the version has no sample in one of the rows
     * @throws dev.stoker.schemas.errors.CorruptDataException if a value is damaged
     */
    public List<ByteBuffer> values(int chunk, int field, int[] rows) throws IOException {
        for (int row : rows) {
            requireLive(chunk, row);
        }
        return reads.values(chunk, field, rows);
    }

    private void requireLive(int chunk, int row) {
        if (row < 0 || !table.isLive(chunk, row)) {
            throw new IllegalArgumentException("version " + table.version() + " has no sample in row " + row
                    + " of chunk " + table.ordinal(chunk));
        }
    }
}

package dev.stoker.metadata.index.build;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.work.Workers;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Finds samples of different chunks that have the same key. Sorts the keys of all chunks as a build of the index does,
 * with bounded memory.
 */
public final class RepeatedKeys {

    private final ChunkTable table;
    private final RowReads reads;

    /**
     * Reads with threads of this process.
     *
     * @param dataset holds the chunks
     * @param table the chunks; ordinals ascend from older to newer chunks
     * @param threads read the heads
     */
    public RepeatedKeys(Dataset dataset, ChunkTable table, BuildThreads threads) {
        this(table, threads.reads(dataset, read -> {}));
    }

    /**
     * Reads with workers on other machines.
     *
     * @param store holds the chunks
     * @param table the chunks; ordinals ascend from older to newer chunks
     */
    public RepeatedKeys(ObjectStore store, ChunkTable table, Workers workers) {
        this(table, new StoredRows(store, workers, read -> {}));
    }

    private RepeatedKeys(ChunkTable table, RowReads reads) {
        this.table = table;
        this.reads = reads;
    }

    /** Takes pairs of samples with the same key. */
    @FunctionalInterface
    public interface Sink {
        /**
         * Takes a pair. Of several samples with the same key, each one and the next older one are a pair.
         *
         * @param newer ordinal of the chunk of the newer sample
         * @param older ordinal of the chunk of the older sample
         * @param row row of the older sample
         */
        void pair(long newer, long older, int row);
    }

    /**
     * Finds all pairs, in the order of the keys.
     *
     * @throws InterruptedException if interrupted
     */
    public void find(Sink sink) throws IOException, InterruptedException {
        int[] chunks = IntStream.range(0, table.size()).toArray();
        try (Scratch scratch = new Scratch();
                RowMerge rows = new RowMerge(reads.collect(table, chunks, scratch))) {
            byte[] key = {};
            long ordinal = -1;
            while (rows.next()) {
                if (Arrays.equals(key, rows.key())) {
                    sink.pair(ordinal, rows.row().ordinal(), rows.row().row());
                }
                key = rows.key();
                ordinal = rows.row().ordinal();
            }
        }
    }
}

package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ParallelChunks;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.NoSuchObjectException;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Finds the rows with erased keys in chunk files. Reads the head of each chunk once. Used by one thread; reads with
 * several.
 */
final class ErasedRows {

    private static final int[] NONE = {};

    private final ObjectStore store;
    private final Supplier<KeyTest> keys;
    private final int threads;
    private final IntConsumer progress;
    private final Map<UUID, int[]> rows = new ConcurrentHashMap<>();

    /**
     * @param threads number of chunks to read at a time
     * @param progress receives 1 for each chunk that was read, from any thread
     */
    ErasedRows(Dataset dataset, Supplier<KeyTest> keys, int threads, IntConsumer progress) {
        this.store = dataset.store();
        this.keys = keys;
        this.threads = threads;
        this.progress = progress;
    }

    /**
     * Reads the chunks that were not read before. A chunk that the version does not have has no rows if its file does
     * not exist.
     *
     * @param table chunk table of the newest version
     * @param chunks indices of chunks
     */
    void read(ChunkTable table, int[] chunks) throws IOException {
        int[] unread =
                IntStream.of(chunks).filter(i -> !rows.containsKey(table.id(i))).toArray();
        ParallelChunks.forEach(unread, threads, () -> {
            KeyTest test = keys.get();
            return i -> {
                try {
                    rows.put(table.id(i), rows(table.summary(i), test));
                } catch (NoSuchObjectException e) {
                    if (table.isLive(i)) {
                        throw e;
                    }
                    rows.put(table.id(i), NONE);
                }
                progress.accept(1);
            };
        });
    }

    private int[] rows(ChunkSummary chunk, KeyTest test) throws IOException {
        return rows(ChunkReader.readKeys(new ObjectRangeReader(store, ChunkNames.path(chunk.id())), chunk), test);
    }

    /** Returns the rows of a column of keys. */
    static int[] rows(ArrowColumn column, KeyTest test) {
        return IntStream.range(0, column.rows())
                .filter(row -> {
                    byte[] key = new byte[column.valueLength(row)];
                    column.bytes().get(column.valuePosition(row), key);
                    return test.isErased(key);
                })
                .toArray();
    }

    /** Returns the rows of a chunk that was read, ascending. */
    int[] of(UUID chunk) {
        int[] found = rows.get(chunk);
        if (found == null) {
            throw new IllegalStateException("Chunk " + chunk + " was not read");
        }
        return found;
    }
}

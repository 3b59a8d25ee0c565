package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.chunks.ParallelChunks;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.metadata.index.run.RunObject;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.index.IndexedRow;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
     * Reads the chunks that were not read before. If the file of a chunk that the version does not have was deleted by
     * garbage collection, its rows are those that the sample index still has.
     *
     * @param table chunk table of the newest version
     * @param chunks indices of chunks
     */
    void read(ChunkTable table, int[] chunks) throws IOException {
        int[] unread =
                IntStream.of(chunks).filter(i -> !rows.containsKey(table.id(i))).toArray();
        Set<Integer> missing = ConcurrentHashMap.newKeySet();
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
                    missing.add(i);
                }
                progress.accept(1);
            };
        });
        if (!missing.isEmpty()) {
            readRuns(table, missing);
        }
    }

    /** Finds rows of chunks without files in the runs of the index. */
    private void readRuns(ChunkTable table, Set<Integer> missing) throws IOException {
        Set<String> seen = new HashSet<>();
        boolean isComplete = false;
        while (!isComplete) {
            isComplete = true;
            for (ObjectInfo object : store.list(DatasetLayout.INDEX).toList()) {
                Optional<IndexRange> range = IndexRange.ofName(object.name());
                if (range.isEmpty()
                        || missing.stream().noneMatch(i -> range.get().contains(table.addedIn(i)))
                        || !seen.add(object.name())) {
                    continue;
                }
                try {
                    readRun(SampleRun.open(new RunObject(store, object.name())), table, missing);
                } catch (NoSuchObjectException e) {
                    // Another run supersedes it, which the next listing has.
                    isComplete = false;
                } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
                    // No reader uses a damaged run. The check of the certificate reports it.
                }
            }
        }
    }

    private void readRun(SampleRun run, ChunkTable table, Set<Integer> missing) throws IOException {
        KeyTest test = keys.get();
        for (long row = 0; row < run.rows(); row++) {
            if (test.isErased(run.key(row))) {
                IndexedRow place = run.row(row);
                int chunk = table.indexOf(place.ordinal());
                if (missing.contains(chunk)) {
                    rows.merge(table.id(chunk), new int[] {place.row()}, ErasedRows::union);
                }
            }
        }
    }

    private static int[] union(int[] some, int[] others) {
        return IntStream.concat(IntStream.of(some), IntStream.of(others))
                .sorted()
                .distinct()
                .toArray();
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

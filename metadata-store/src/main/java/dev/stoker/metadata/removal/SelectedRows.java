package dev.stoker.metadata.removal;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.chunks.ParallelChunks;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** The rows that a rule selects in all chunk files of a dataset, whether or not a version has them. Immutable. */
public final class SelectedRows {

    private final Map<UUID, int[]> rows;
    private final Set<String> keys;

    private SelectedRows(Map<UUID, int[]> rows, Set<String> keys) {
        this.rows = Map.copyOf(rows);
        this.keys = keys;
    }

    /**
     * Reads the heads of chunks, and whole chunks if the condition needs payload. Leaves out chunks that the newest
     * version does not have and whose files do not exist any more.
     *
     * @param table chunk table of the newest version
     * @param others chunk files that no version has
     * @param threads number of chunks to read at a time
     * @param progress receives 1 for each chunk of the table, from any thread
     */
    public static SelectedRows find(
            Dataset dataset,
            ChunkTable table,
            List<ChunkSummary> others,
            SampleRule rule,
            int threads,
            IntConsumer progress)
            throws IOException {
        List<ChunkSummary> chunks = new ArrayList<>();
        for (int i = 0; i < table.size(); i++) {
            chunks.add(table.summary(i));
        }
        chunks.addAll(others);
        Map<String, Integer> numbers = new HashMap<>();
        rule.keys().forEach(key -> numbers.put(key, numbers.size()));
        Map<UUID, int[]> rows = new ConcurrentHashMap<>();
        Set<String> keys = ConcurrentHashMap.newKeySet();
        int[] read = IntStream.range(0, chunks.size())
                .filter(i -> rule.split().map(chunks.get(i).split()::equals).orElse(true))
                .toArray();
        ParallelChunks.forEach(read, threads, () -> {
            ChunkMatches.Search search = new ChunkMatches.Search(dataset.store(), rule, numbers);
            return i -> {
                try {
                    ChunkMatches.Search.Keyed found = search.keyed(chunks.get(i));
                    if (found.rows().length > 0) {
                        rows.put(chunks.get(i).id(), found.rows());
                        keys.addAll(found.keys());
                    }
                } catch (NoSuchObjectException e) {
                    if (i < table.size() && table.isLive(i)) {
                        throw e;
                    }
                }
                progress.accept(1);
            };
        });
        return new SelectedRows(rows, new TreeSet<>(keys));
    }

    /** Returns the keys of the rows, ascending. */
    public Set<String> keys() {
        return keys;
    }

    /** Returns whether the rule selects a row of a chunk. */
    public boolean isSelected(UUID chunk, int row) {
        int[] selected = rows.get(chunk);
        return selected != null && Arrays.binarySearch(selected, row) >= 0;
    }
}

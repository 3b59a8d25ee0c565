package dev.stoker.metadata;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Removes samples by key. Reads the keys of all live chunks to find them, once each, even if the commit is retried on
 * several versions. Not thread-safe.
 */
public final class KeyRemoval implements Removal {

    private record Match(int row, String key) {}

    private final ObjectStore store;
    private final Set<String> keys;
    private final Map<UUID, List<Match>> matches = new HashMap<>();

    /** @param keys keys of samples that must all exist */
    public KeyRemoval(Dataset dataset, Collection<String> keys) {
        this.store = dataset.store();
        this.keys = new LinkedHashSet<>(keys);
    }

    /** @throws UnknownKeyException if the version lacks one of the samples */
    @Override
    public List<RemovedRows> from(Snapshot base) throws IOException {
        ChunkTable table = base.table();
        Set<String> missing = new LinkedHashSet<>(keys);
        List<RemovedRows> removed = new ArrayList<>();
        for (int i = 0; i < table.size(); i++) {
            if (!table.isLive(i)) {
                continue;
            }
            int[] gone = table.removedRows(i);
            List<Integer> rows = new ArrayList<>();
            for (Match match : matches(table, i)) {
                if (Arrays.binarySearch(gone, match.row) < 0) {
                    rows.add(match.row);
                    missing.remove(match.key);
                }
            }
            if (!rows.isEmpty()) {
                removed.add(RemovedRows.of(
                        table.ordinal(i),
                        rows.stream().mapToInt(Integer::intValue).toArray()));
            }
        }
        if (!missing.isEmpty()) {
            throw new UnknownKeyException(
                    base.info().name(), base.version(), missing.iterator().next(), missing.size() - 1);
        }
        return removed;
    }

    private List<Match> matches(ChunkTable table, int index) throws IOException {
        List<Match> known = matches.get(table.id(index));
        if (known != null) {
            return known;
        }
        ObjectRangeReader file = new ObjectRangeReader(store, ChunkNames.path(table.id(index)));
        ArrowColumn column = ChunkReader.readKeys(file, table.summary(index));
        List<Match> found = new ArrayList<>();
        for (int row = 0; row < column.rows(); row++) {
            String key = column.stringAt(row);
            if (keys.contains(key)) {
                found.add(new Match(row, key));
            }
        }
        matches.put(table.id(index), found);
        return found;
    }
}

package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

/** Finds the versions that have chunks. Reads the log from the first of these chunks on. */
final class ChunkLives {

    private ChunkLives() {}

    /**
     * Returns the versions in which at least one of the chunks is live.
     *
     * @param newest chunk table of the newest version
     * @param chunks indices of chunks
     */
    static NavigableSet<Long> versions(Dataset dataset, ChunkTable newest, int[] chunks) throws IOException {
        NavigableSet<Long> versions = new TreeSet<>();
        Map<Long, BitSet> alive = new HashMap<>();
        Map<Long, NavigableSet<Integer>> added = new HashMap<>();
        long first = Long.MAX_VALUE;
        for (int chunk : chunks) {
            added.computeIfAbsent(newest.addedIn(chunk), version -> new TreeSet<>())
                    .add(chunk);
            first = Math.min(first, newest.addedIn(chunk));
        }
        for (long version = first; version <= newest.version(); version++) {
            if (!alive.isEmpty()) {
                remove(dataset.entry(version, newest.version()), newest, alive);
            }
            for (int chunk : added.getOrDefault(version, new TreeSet<>())) {
                alive.put(newest.ordinal(chunk), new BitSet());
            }
            if (!alive.isEmpty()) {
                versions.add(version);
            }
        }
        return versions;
    }

    private static void remove(LogEntry entry, ChunkTable newest, Map<Long, BitSet> alive) {
        for (RemovedRows removed : entry.removed()) {
            BitSet gone = alive.get(removed.ordinal());
            if (gone == null) {
                continue;
            }
            removed.rows().ifPresent(rows -> {
                for (int row : rows) {
                    gone.set(row);
                }
            });
            if (removed.rows().isEmpty() || gone.cardinality() == newest.rows(newest.indexOf(removed.ordinal()))) {
                alive.remove(removed.ordinal());
            }
        }
    }
}

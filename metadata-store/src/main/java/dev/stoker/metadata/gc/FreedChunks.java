package dev.stoker.metadata.gc;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ProtectedVersions;
import dev.stoker.schemas.log.ExpiredVersions;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * Finds the chunks that only expired versions have. Reads the log first and the tags and uses afterwards. A process
 * that adds a tag or a use to a version checks the log after that, and fails if the log has expired the version.
 */
final class FreedChunks {

    private FreedChunks() {}

    /** Versions without gaps. */
    record Kept(long first, long last) {
        boolean has(long version) {
            return first <= version && version <= last;
        }
    }

    /**
     * Returns the ids of the chunks.
     *
     * @param olderThan minimum time since the versions were expired; readers that have opened one before can finish
     */
    static Set<UUID> find(Dataset dataset, Duration olderThan, InstantSource clock) throws IOException {
        ChunkTable newest = dataset.latest().table();
        if (newest.expired().isEmpty()) {
            return Set.of();
        }
        Set<Long> guarded = ProtectedVersions.read(dataset).keySet();
        BitSet kept = KeptChunks.in(dataset, newest, kept(dataset, newest, guarded, olderThan, clock));
        Set<UUID> freed = new HashSet<>();
        for (int i = kept.nextClearBit(0); i < newest.size(); i = kept.nextClearBit(i + 1)) {
            freed.add(newest.id(i));
        }
        return freed;
    }

    /** Returns the versions whose files must stay. */
    static List<Kept> kept(Dataset dataset, Duration olderThan, InstantSource clock) throws IOException {
        ChunkTable newest = dataset.latest().table();
        return kept(dataset, newest, ProtectedVersions.read(dataset).keySet(), olderThan, clock);
    }

    private static List<Kept> kept(
            Dataset dataset, ChunkTable newest, Set<Long> guarded, Duration olderThan, InstantSource clock)
            throws IOException {
        Map<Long, Boolean> isOld = new HashMap<>();
        long latestMs = clock.millis() - olderThan.toMillis();
        for (ExpiredVersions.Range range : newest.expired().ranges()) {
            if (!isOld.containsKey(range.by())) {
                isOld.put(
                        range.by(), dataset.entry(range.by(), newest.version()).committedMs() <= latestMs);
            }
        }
        return kept(newest, guarded, range -> isOld.getOrDefault(range.by(), false));
    }

    /**
     * Returns the versions of a table that were not expired.
     *
     * @param guarded versions that are kept although they were expired
     * @param isEnded whether the versions of a range do not count any more
     */
    static List<Kept> kept(ChunkTable newest, Set<Long> guarded, Predicate<ExpiredVersions.Range> isEnded) {
        List<Kept> kept = new ArrayList<>();
        long first = 1;
        for (ExpiredVersions.Range range : newest.expired().ranges()) {
            if (!isEnded.test(range)) {
                continue;
            }
            for (long version : ended(range, guarded)) {
                if (version > first) {
                    kept.add(new Kept(first, version - 1));
                }
                first = version + 1;
            }
        }
        kept.add(new Kept(first, newest.version()));
        return kept;
    }

    private static List<Long> ended(ExpiredVersions.Range range, Set<Long> guarded) {
        List<Long> versions = new ArrayList<>();
        for (long version = range.first(); version <= range.last(); version++) {
            if (!guarded.contains(version)) {
                versions.add(version);
            }
        }
        return versions;
    }
}

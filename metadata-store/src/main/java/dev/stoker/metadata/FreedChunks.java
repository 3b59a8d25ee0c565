package dev.stoker.metadata;

import dev.stoker.schemas.log.ExpiredVersions;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * Finds the chunks that only expired versions have. Reads the log first and the tags and uses afterwards. A process
 * that adds a tag or a use to a version checks the log after that, and fails if the log has expired the version.
 */
final class FreedChunks {

    private FreedChunks() {}

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
        KeptChunks kept = KeptChunks.without(dataset, newest, ended(dataset, newest, guarded, olderThan, clock));
        Set<UUID> freed = new HashSet<>();
        for (int i = 0; i < newest.size(); i++) {
            if (!kept.kept().get(i)) {
                freed.add(newest.id(i));
            }
        }
        return freed;
    }

    private static Set<Long> ended(
            Dataset dataset, ChunkTable newest, Set<Long> guarded, Duration olderThan, InstantSource clock)
            throws IOException {
        Map<Long, Boolean> isOld = new HashMap<>();
        long latestMs = clock.millis() - olderThan.toMillis();
        Set<Long> ended = new TreeSet<>();
        for (ExpiredVersions.Range range : newest.expired().ranges()) {
            if (!isOld.containsKey(range.by())) {
                isOld.put(
                        range.by(), dataset.entry(range.by(), newest.version()).committedMs() <= latestMs);
            }
            if (isOld.getOrDefault(range.by(), false)) {
                ended.addAll(KeptChunks.versions(range, guarded));
            }
        }
        return ended;
    }
}

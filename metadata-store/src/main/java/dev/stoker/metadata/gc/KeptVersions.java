package dev.stoker.metadata.gc;

import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.log.ExpiredVersions;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Says which versions are kept: all that were not expired, and those of them that have a tag or a use. */
final class KeptVersions {

    private KeptVersions() {}

    /** Versions without gaps. */
    record Kept(long first, long last) {
        boolean has(long version) {
            return first <= version && version <= last;
        }
    }

    /**
     * Returns the versions whose files must stay.
     *
     * @param newest the newest table
     * @param guarded versions that are kept although they were expired, read after the table
     * @param olderThan minimum time since the others were expired
     */
    static List<Kept> read(
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
        return of(newest, guarded, range -> isOld.getOrDefault(range.by(), false));
    }

    /**
     * Returns the versions of a table that were not expired.
     *
     * @param guarded versions that are kept although they were expired
     * @param isEnded whether the versions of a range do not count any more
     */
    static List<Kept> of(ChunkTable newest, Set<Long> guarded, Predicate<ExpiredVersions.Range> isEnded) {
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

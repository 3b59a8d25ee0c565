package dev.stoker.metadata.copy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.gc.Orphan;
import dev.stoker.schemas.dataset.Tag;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Makes a target follow a dataset: each round copies new versions, and then deletes the files at the target that
 * garbage collection may delete there. A round that cannot read the source, or finds damaged chunks, deletes nothing.
 * Used by one thread.
 */
public final class Mirror {

    /** Chunks become old enough to be deleted without a new version. */
    private static final Duration BETWEEN_COLLECTIONS = Duration.ofHours(1);

    /**
     * What a round has done.
     *
     * @param copy what was copied
     * @param deleted the files that were deleted at the target
     */
    public record Round(CopyResult copy, List<Orphan> deleted) {
        public Round {
            deleted = List.copyOf(deleted);
        }

        /** Returns whether the target was as it should be. */
        public boolean isUnchanged() {
            return copy.isUnchanged() && deleted.isEmpty();
        }
    }

    private record State(long version, Map<String, Tag> tags) {}

    private final Dataset source;
    private final ObjectStore target;
    private final DatasetCopy copy;
    private final boolean isSkipped;
    private final Duration olderThan;
    private final InstantSource clock;
    private @Nullable State copied;
    private Instant collected = Instant.EPOCH;

    /**
     * @param rule of the copies; has no version
     * @param olderThan minimum age of files to delete, and minimum time since the expiry of their versions
     * @param by user and host, for people
     */
    public Mirror(
            Dataset source,
            ObjectStore target,
            CopyRule rule,
            Duration olderThan,
            InstantSource clock,
            String by,
            DatasetCopy.Listener listener) {
        this.source = source;
        this.target = target;
        this.copy = new DatasetCopy(source, target, rule, clock, by, listener);
        // Ledgers and dead letters change without a new version.
        this.isSkipped = !rule.has(CopyRule.Extra.LEDGERS);
        this.olderThan = olderThan;
        this.clock = clock;
    }

    /**
     * Makes one round.
     *
     * @return the changes at the target; empty if the source has not changed since the last round
     */
    public Optional<Round> next() throws IOException {
        State now = new State(source.latestVersion(), new Tags(source).changes());
        boolean isDue = !clock.instant().isBefore(collected.plus(BETWEEN_COLLECTIONS));
        if (isSkipped && !isDue && now.equals(copied)) {
            return Optional.empty();
        }
        CopyResult result = copy.run();
        List<Orphan> deleted = List.of();
        if (result.isComplete()) {
            copied = now;
            if (isDue || result.versions() > 0 || result.others().count() > 0) {
                deleted = GarbageCollection.plan(Dataset.open(target), olderThan, clock)
                        .apply();
                collected = clock.instant();
            }
        }
        return Optional.of(new Round(result, deleted));
    }
}

package dev.stoker.metadata.gc;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ExpirySign;
import dev.stoker.metadata.ProtectedVersions;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.UnknownVersionException;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.version.VersionTimes;
import dev.stoker.schemas.log.ExpiredVersions;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongPredicate;

/**
 * Ends old versions with one commit. Their log entries stay, and {@link GarbageCollection} deletes the chunks that no
 * other version has. Never ends the newest version, or one with a tag or a use. Used by one thread.
 */
public final class Expiry {

    /**
     * Says which versions are kept. A version is kept if one of the two says so.
     *
     * @param keep versions that were the newest at some time within this duration
     * @param keepLast the number of newest versions, at least 1
     */
    public record Rule(Optional<Duration> keep, OptionalLong keepLast) {
        public Rule {
            if (keep.isEmpty() && keepLast.isEmpty()) {
                throw new IllegalArgumentException("A rule that keeps no version");
            }
            if (keepLast.isPresent() && keepLast.getAsLong() < 1) {
                throw new IllegalArgumentException("At least one version is kept, not " + keepLast.getAsLong());
            }
            if (keep.isPresent() && keep.get().isNegative()) {
                throw new IllegalArgumentException("A negative duration: " + keep.get());
            }
        }
    }

    private final Dataset dataset;
    private final InstantSource clock;
    private final LongPredicate wanted;
    private final long cut;
    private final ExpiredVersions before;
    private final List<ExpiredVersions.Range> ranges;
    private final NavigableMap<Long, String> kept;

    private Expiry(Dataset dataset, InstantSource clock, LongPredicate wanted, long cut, Snapshot base)
            throws IOException {
        this.dataset = dataset;
        this.clock = clock;
        this.wanted = wanted;
        this.cut = cut;
        this.before = base.table().expired();
        this.kept = ProtectedVersions.read(dataset).headMap(cut, true);
        this.ranges = ranges(base, kept.keySet());
    }

    /**
     * Plans an expiry, without changes.
     *
     * @throws UnknownVersionException if the dataset has no version
     */
    public static Expiry plan(Dataset dataset, Rule rule, InstantSource clock) throws IOException {
        Snapshot base = dataset.snapshot();
        long cut = base.version() - 1;
        if (rule.keepLast().isPresent()) {
            cut = Math.min(cut, base.version() - rule.keepLast().getAsLong());
        }
        if (rule.keep().isPresent()) {
            // The newest version of that time was in use within the duration; the ones before were not.
            cut = Math.min(
                    cut,
                    VersionTimes.newestAt(
                                    dataset, clock.instant().minus(rule.keep().get()))
                            - 1);
        }
        return new Expiry(dataset, clock, version -> true, Math.max(cut, 0), base);
    }

    /**
     * Plans an expiry of single versions, without changes. Never ends the newest version.
     *
     * @param versions the versions
     * @throws UnknownVersionException if the dataset has no version
     */
    public static Expiry ofVersions(Dataset dataset, Set<Long> versions, InstantSource clock) throws IOException {
        Snapshot base = dataset.snapshot();
        Set<Long> all = Set.copyOf(versions);
        return new Expiry(dataset, clock, all::contains, base.version() - 1, base);
    }

    private List<ExpiredVersions.Range> ranges(Snapshot base, Set<Long> kept) {
        List<ExpiredVersions.Range> ranges = new ArrayList<>();
        long first = 0;
        for (long version = 1; version <= cut + 1; version++) {
            boolean isEnded = version <= cut
                    && wanted.test(version)
                    && !kept.contains(version)
                    && !base.table().expired().contains(version);
            if (isEnded && first == 0) {
                first = version;
            } else if (!isEnded && first > 0) {
                ranges.add(new ExpiredVersions.Range(first, version - 1, base.version() + 1));
                first = 0;
            }
        }
        return ranges;
    }

    /** Returns the versions to expire, as ranges in ascending order. */
    public List<ExpiredVersions.Range> ranges() {
        return ranges;
    }

    /** Returns the number of versions to expire. */
    public long versions() {
        return ranges.stream()
                .mapToLong(range -> range.last() - range.first() + 1)
                .sum();
    }

    /** Returns the versions that would be expired if they had no tag and no use, with the reason. */
    public NavigableMap<Long, String> kept() {
        return kept;
    }

    /** Returns the versions that were expired before. */
    public ExpiredVersions before() {
        return before;
    }

    /**
     * Commits the expiry. Versions that have got a tag or a use meanwhile are kept.
     *
     * @param ingest id that commits at most once
     * @param by user and host, for people
     * @throws NothingToExpireException if no version is left to expire
     */
    public LogEntry commit(String ingest, String by) throws IOException {
        ExpirySign.leave(dataset.store());
        VersionRequest request = new VersionRequest(
                ingest,
                Operation.EXPIRE,
                List.of(),
                Removal.NOTHING,
                Map.of(),
                base -> {
                    List<ExpiredVersions.Range> now =
                            ranges(base, ProtectedVersions.read(dataset).keySet());
                    if (now.isEmpty()) {
                        throw new NothingToExpireException(dataset.where());
                    }
                    return Map.of(
                            LogEntry.EXPIRED, ExpiredVersions.NONE.with(now).text());
                },
                List.of(ingest));
        return new VersionCommitter(dataset, clock, by).commit(request).entry();
    }
}

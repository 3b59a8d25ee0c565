package dev.stoker.metadata.gc;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ExpirySign;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.lease.ProcessLeases;
import dev.stoker.schemas.dataset.Lease;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Deletes files that no version contains and no lease protects, chunks that only expired versions contain, and what
 * ended feeds of such versions have left. Writers, feeds and other collections may run at the same time.
 *
 * <p>The plan lists the files that can be deleted, {@linkplain Marks marks} what is needed, and keeps the rest. The
 * deletion marks again, and deletes the planned files that still stand as in the plan.
 *
 * <p>The order of the reads makes this safe. A writer takes its lease before its first chunk and releases it after its
 * commit. The collection lists the chunks first, the leases second, and reads the log last; then the tags and uses. A
 * listed chunk therefore has a visible lease, or is committed in a visible version, or its ingest has ended.
 *
 * <p>A copy from or to the dataset also uses chunks that no version has yet, or that were freed. While one has its
 * {@linkplain ProcessLeases lease}, no chunk is deleted.
 */
public final class GarbageCollection {

    private final Dataset dataset;
    private final List<Leftover> leftovers;
    private final List<String> finished;
    private final List<Orphan> expired;
    private final List<Orphan> ofFeeds;
    private final Map<String, Lease> copies;
    private final Duration olderThan;
    private final InstantSource clock;

    private GarbageCollection(
            Dataset dataset,
            List<Leftover> leftovers,
            List<String> finished,
            List<Orphan> expired,
            List<Orphan> ofFeeds,
            Map<String, Lease> copies,
            Duration olderThan,
            InstantSource clock) {
        this.dataset = dataset;
        this.leftovers = leftovers;
        this.finished = finished;
        this.expired = expired;
        this.ofFeeds = ofFeeds;
        this.copies = copies;
        this.olderThan = olderThan;
        this.clock = clock;
    }

    /**
     * Plans a collection, without changes.
     *
     * @param olderThan minimum age; younger files stay, even without a lease
     * @throws dev.stoker.schemas.errors.CorruptDataException if the log has lost entries
     */
    public static GarbageCollection plan(Dataset dataset, Duration olderThan, InstantSource clock) throws IOException {
        // If the entry of a version is lost, its chunks look like chunks of no version.
        dataset.log().requireNewest(dataset.latestVersion());
        StoreListing files = StoreListing.read(dataset, EnumSet.allOf(StoredKind.class));
        Map<String, Lease> leases = new TreeMap<>(new Leases(dataset).all());
        Map<String, Lease> copies = new ProcessLeases(dataset, ProcessLeases.Kind.COPY).all();
        Marks marks = Marks.read(dataset)
                .withoutExpired(olderThan, clock)
                .withoutEndedFeeds(files.of(StoredKind.FEED), olderThan, clock);
        Map<Marks.Standing, List<Orphan>> unneeded = files.by(marks, clock);
        List<String> finished = new ArrayList<>();
        VersionCommitter committer = new VersionCommitter(dataset, clock, "");
        for (String ingest : leases.keySet()) {
            if (committer.standing(ingest).isPresent()) {
                finished.add(ingest);
            }
        }
        leases.keySet().removeAll(finished);
        List<Orphan> expired = unneeded.getOrDefault(Marks.Standing.EXPIRED, new ArrayList<>());
        expired.sort(Comparator.comparing(file -> StoredKind.of(file)));
        List<Orphan> ofFeeds = unneeded.getOrDefault(Marks.Standing.OF_ENDED_FEED, new ArrayList<>());
        ofFeeds.sort(Comparator.comparing(file -> EndedFeeds.feed(file.name())));
        List<Orphan> orphans = unneeded.getOrDefault(Marks.Standing.OF_NO_VERSION, List.of());
        return new GarbageCollection(
                dataset,
                new Leftovers(dataset, leases, !copies.isEmpty(), olderThan, clock).of(orphans),
                finished,
                expired,
                ofFeeds,
                copies,
                olderThan,
                clock);
    }

    /** Returns the leftovers, oldest first. */
    public List<Leftover> leftovers() {
        return leftovers;
    }

    /** Returns the chunks and overlays that only expired versions have. */
    public List<Orphan> expired() {
        return expired;
    }

    /** Returns the files of ended feeds whose versions were all expired: ledgers, signs and epoch choices. */
    public List<Orphan> ofEndedFeeds() {
        return ofFeeds;
    }

    /** Returns the ingests that have committed but still have a lease. */
    public List<String> finished() {
        return finished;
    }

    /** Returns the leases of running copies, by id. While there is one, no chunk is deleted. */
    public Map<String, Lease> copies() {
        return copies;
    }

    /**
     * Deletes the planned files, except those that were committed or leased in the meantime, or whose version has got a
     * tag or a use. Deletes no chunk if a copy has started in the meantime.
     *
     * @return the deleted files
     */
    public List<Orphan> apply() throws IOException {
        boolean isAny =
                !expired.isEmpty() || leftovers.stream().anyMatch(leftover -> leftover.fate() == Leftover.Fate.DELETE);
        if (!isAny) {
            return delete(Optional.empty());
        }
        try (ChunkDeletion deletion = ChunkDeletion.begin(dataset, clock)) {
            return delete(Optional.of(deletion));
        }
    }

    /** @param deletion empty if there is no chunk to delete */
    private List<Orphan> delete(Optional<ChunkDeletion> deletion) throws IOException {
        boolean isAllowed = deletion.isPresent() && deletion.get().isAllowed();
        Leases all = new Leases(dataset);
        Map<String, Lease> leases = all.all();
        List<Orphan> plan = new ArrayList<>();
        for (Leftover leftover : leftovers) {
            boolean isLeased = leftover.ingest().isEmpty()
                    ? !finished.containsAll(leases.keySet())
                    : leases.containsKey(leftover.ingest()) && !finished.contains(leftover.ingest());
            if (leftover.fate() == Leftover.Fate.DELETE && !isLeased && isAllowed) {
                plan.addAll(leftover.files());
            }
        }
        List<Orphan> deleted = new ArrayList<>(Orphans.delete(dataset, plan));
        finished.forEach(all::release);
        if (!expired.isEmpty() && isAllowed) {
            // A copy of the dataset may lack it.
            ExpirySign.leave(dataset.store());
            Marks marks = Marks.read(dataset).withoutExpired(olderThan, clock);
            // A copy that starts after this reads the log that the marks have read.
            if (deletion.get().isAllowed()) {
                deleted.addAll(marks.sweep(expired, Marks.Standing.EXPIRED));
            }
        }
        if (!ofFeeds.isEmpty()) {
            StoreListing feeds = StoreListing.read(dataset, EnumSet.of(StoredKind.FEED));
            Marks marks = Marks.read(dataset).withoutEndedFeeds(feeds.of(StoredKind.FEED), olderThan, clock);
            deleted.addAll(marks.sweep(ofFeeds, Marks.Standing.OF_ENDED_FEED));
        }
        return deleted;
    }

    /**
     * Abandons an ingest: nothing can be committed under its id any more. Then deletes its files and its lease.
     *
     * @param by user and host, for people
     * @return the ingest's log entry, which is a version if the ingest had committed before
     */
    public static LogEntry end(Dataset dataset, String ingest, InstantSource clock, String by) throws IOException {
        LogEntry entry = new VersionCommitter(dataset, clock, by).abandon(ingest);
        try (ChunkDeletion deletion = ChunkDeletion.begin(dataset, clock)) {
            boolean isAllowed = entry.operation() == Operation.ABANDON && deletion.isAllowed();
            List<Orphan> files = new ArrayList<>();
            for (Orphan orphan : Orphans.find(dataset, clock)) {
                try {
                    if (isAllowed && Leftovers.ingest(dataset, orphan).equals(ingest)) {
                        files.add(orphan);
                    }
                } catch (NoSuchObjectException e) {
                    // A collection has deleted it.
                }
            }
            Orphans.delete(dataset, files);
        }
        new Leases(dataset).release(ingest);
        return entry;
    }

    /**
     * Ends the lease of a copy or of a garbage collection whose process is dead.
     *
     * @return whether there was such a lease
     */
    public static boolean endProcess(Dataset dataset, String id) throws IOException {
        for (ProcessLeases.Kind kind : ProcessLeases.Kind.values()) {
            ProcessLeases leases = new ProcessLeases(dataset, kind);
            if (leases.all().containsKey(id)) {
                leases.release(id);
                return true;
            }
        }
        return false;
    }
}

package dev.stoker.metadata.gc;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.ExpirySign;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.lease.ProcessLeases;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.dataset.Lease;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.StoreErrors;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Deletes files that no version contains and no lease protects, chunks that only expired versions contain, and what
 * ended feeds of such versions have left. Writers, feeds and other collections may run at the same time.
 *
 * <p>The order of the reads makes this safe. A writer takes its lease before its first chunk and releases it after its
 * commit. The collection lists the chunks first, the leases second, and reads the log last. A listed chunk therefore
 * has a visible lease, or is committed in a visible version, or its ingest has ended.
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
        Orphans.Files files = Orphans.list(dataset);
        Map<String, Lease> leases = new TreeMap<>(new Leases(dataset).all());
        Map<String, Lease> copies = new ProcessLeases(dataset, ProcessLeases.Kind.COPY).all();
        List<Orphan> orphans = Orphans.without(dataset, files, clock);
        List<String> finished = new ArrayList<>();
        VersionCommitter committer = new VersionCommitter(dataset, clock, "");
        for (String ingest : leases.keySet()) {
            if (committer.standing(ingest).isPresent()) {
                finished.add(ingest);
            }
        }
        leases.keySet().removeAll(finished);
        Set<UUID> freed = FreedChunks.find(dataset, olderThan, clock);
        List<Orphan> expired = files.chunks().stream()
                .filter(chunk ->
                        ChunkNames.idOf(chunk.name()).filter(freed::contains).isPresent())
                .map(chunk -> Orphans.orphan(chunk, clock, false))
                .toList();
        Set<UUID> freedOverlays = OverlayFiles.freed(dataset, files.overlays(), olderThan, clock);
        List<Orphan> overlays = files.overlays().stream()
                .filter(overlay -> ChunkNames.idOfOverlay(overlay.name())
                        .filter(freedOverlays::contains)
                        .isPresent())
                .map(overlay -> Orphans.orphan(overlay, clock, false))
                .toList();
        List<Orphan> ofFeeds = EndedFeeds.find(dataset, olderThan, clock).stream()
                .map(file -> Orphans.orphan(file, clock, false))
                .toList();
        return new GarbageCollection(
                dataset,
                leftovers(dataset, orphans, leases, copies, olderThan, clock),
                finished,
                Stream.concat(expired.stream(), overlays.stream()).toList(),
                ofFeeds,
                copies,
                olderThan,
                clock);
    }

    private static List<Leftover> leftovers(
            Dataset dataset,
            List<Orphan> orphans,
            Map<String, Lease> leases,
            Map<String, Lease> copies,
            Duration olderThan,
            InstantSource clock)
            throws IOException {
        Map<String, List<Orphan>> byIngest = new LinkedHashMap<>();
        leases.keySet().forEach(ingest -> byIngest.put(ingest, new ArrayList<>()));
        List<Leftover> leftovers = new ArrayList<>();
        for (Orphan orphan : orphans) {
            String ingest;
            try {
                ingest = ingest(dataset, orphan);
            } catch (NoSuchObjectException e) {
                // Another collection has deleted it.
                continue;
            }
            if (ingest.isEmpty()) {
                boolean isYoung = orphan.age().compareTo(olderThan) < 0;
                leftovers.add(new Leftover(
                        "",
                        Optional.empty(),
                        List.of(orphan),
                        orphan.age(),
                        isYoung
                                ? Leftover.Fate.YOUNG
                                : leases.isEmpty() && copies.isEmpty()
                                        ? Leftover.Fate.DELETE
                                        : Leftover.Fate.BESIDE_WRITERS));
            } else {
                byIngest.computeIfAbsent(ingest, i -> new ArrayList<>()).add(orphan);
            }
        }
        byIngest.forEach((ingest, files) -> {
            Optional<Lease> lease = Optional.ofNullable(leases.get(ingest));
            Duration age = files.stream()
                    .map(Orphan::age)
                    .min(Comparator.naturalOrder())
                    .orElseGet(() -> Duration.between(lease.orElseThrow().created(), clock.instant()));
            leftovers.add(new Leftover(
                    ingest,
                    lease,
                    files,
                    age,
                    lease.isPresent()
                            ? Leftover.Fate.LEASED
                            : age.compareTo(olderThan) < 0
                                    ? Leftover.Fate.YOUNG
                                    : copies.isEmpty() ? Leftover.Fate.DELETE : Leftover.Fate.BESIDE_WRITERS));
        });
        leftovers.sort(Comparator.comparing(Leftover::age).reversed());
        return leftovers;
    }

    /** Returns the ingest that wrote a file, according to its content or name; empty if they do not say. */
    private static String ingest(Dataset dataset, Orphan orphan) throws IOException {
        if (orphan.unfinished()
                || IndexRange.ofName(orphan.name()).isPresent()
                || orphan.name().startsWith(DatasetLayout.SCRATCH)) {
            return "";
        }
        Optional<String> ofSkipList = DatasetLayout.ingestOfSkipList(orphan.name());
        if (ofSkipList.isPresent()) {
            return ofSkipList.get();
        }
        try {
            return ChunkReader.open(new ObjectRangeReader(dataset.store(), orphan.name()))
                    .identity()
                    .ingest();
        } catch (NoSuchObjectException e) {
            throw e;
        } catch (StokerException e) {
            StoreErrors.rethrow(e);
            return "";
        }
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
            Set<UUID> freed = new HashSet<>(FreedChunks.find(dataset, olderThan, clock));
            freed.addAll(OverlayFiles.freed(dataset, overlays(expired), olderThan, clock));
            if (!deletion.get().isAllowed()) {
                freed = Set.of();
            }
            for (Orphan chunk : expired) {
                UUID id = ChunkNames.idOf(chunk.name())
                        .or(() -> ChunkNames.idOfOverlay(chunk.name()))
                        .orElseThrow();
                if (freed.contains(id) && dataset.store().delete(chunk.name())) {
                    deleted.add(chunk);
                }
            }
        }
        if (!ofFeeds.isEmpty()) {
            Set<String> unused = EndedFeeds.find(dataset, olderThan, clock).stream()
                    .map(ObjectInfo::name)
                    .collect(Collectors.toSet());
            for (Orphan file : ofFeeds) {
                if (unused.contains(file.name()) && dataset.store().delete(file.name())) {
                    deleted.add(file);
                }
            }
        }
        return deleted;
    }

    private static List<ObjectInfo> overlays(List<Orphan> files) {
        return files.stream()
                .filter(file -> ChunkNames.idOfOverlay(file.name()).isPresent())
                .map(file -> new ObjectInfo(file.name(), file.length(), 0))
                .toList();
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
            for (Orphan orphan : Orphans.without(dataset, Orphans.list(dataset), clock)) {
                try {
                    if (isAllowed && ingest(dataset, orphan).equals(ingest)) {
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

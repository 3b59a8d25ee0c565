package dev.stoker.metadata;

import dev.stoker.schemas.chunk.ChunkFile;
import dev.stoker.schemas.dataset.Lease;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.ObjectRangeReader;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Deletes what no version knows and no writer holds a lease of. Writers may be at work, and other collections too.
 *
 * <p>The order of the looks is what makes it safe. A writer takes its lease before its first chunk and releases it after its
 * commit. So chunks are listed first, leases second and the log last: a chunk that was listed has a lease that is seen, or is
 * committed in a version that is seen, or its ingest was ended.
 */
public final class GarbageCollection {

    private final Dataset dataset;
    private final List<Leftover> leftovers;
    private final List<String> finished;

    private GarbageCollection(Dataset dataset, List<Leftover> leftovers, List<String> finished) {
        this.dataset = dataset;
        this.leftovers = leftovers;
        this.finished = finished;
    }

    /**
     * Finds out what would be deleted; changes nothing.
     *
     * @param olderThan younger files stay, also without a lease
     * @throws dev.stoker.schemas.errors.CorruptDataException if the log has lost entries
     */
    public static GarbageCollection plan(Dataset dataset, Duration olderThan, InstantSource clock) throws IOException {
        // The chunks of a version whose entry is lost look as if nobody knew them.
        dataset.log().requireNewestEntries();
        Orphans.Files files = Orphans.list(dataset);
        Map<String, Lease> leases = new TreeMap<>(new Leases(dataset).all());
        List<Orphan> orphans = Orphans.without(dataset, files, clock);
        List<String> finished = new ArrayList<>();
        Committer committer = new Committer(dataset, clock, "");
        for (String ingest : leases.keySet()) {
            if (committer.standing(ingest).isPresent()) {
                finished.add(ingest);
            }
        }
        leases.keySet().removeAll(finished);
        return new GarbageCollection(dataset, leftovers(dataset, orphans, leases, olderThan, clock), finished);
    }

    private static List<Leftover> leftovers(
            Dataset dataset, List<Orphan> orphans, Map<String, Lease> leases, Duration olderThan, InstantSource clock)
            throws IOException {
        Map<String, List<Orphan>> byIngest = new LinkedHashMap<>();
        leases.keySet().forEach(ingest -> byIngest.put(ingest, new ArrayList<>()));
        List<Leftover> leftovers = new ArrayList<>();
        for (Orphan orphan : orphans) {
            String ingest = ingest(dataset, orphan);
            if (ingest.isEmpty()) {
                boolean isYoung = orphan.age().compareTo(olderThan) < 0;
                leftovers.add(new Leftover(
                        "",
                        Optional.empty(),
                        List.of(orphan),
                        orphan.age(),
                        isYoung
                                ? Leftover.Fate.YOUNG
                                : leases.isEmpty() ? Leftover.Fate.DELETE : Leftover.Fate.BESIDE_WRITERS));
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
                            : age.compareTo(olderThan) < 0 ? Leftover.Fate.YOUNG : Leftover.Fate.DELETE));
        });
        leftovers.sort(Comparator.comparing(Leftover::age).reversed());
        return leftovers;
    }

    /** The ingest that wrote a chunk, as the chunk says; empty if it does not. */
    private static String ingest(Dataset dataset, Orphan orphan) throws IOException {
        if (orphan.unfinished()) {
            return "";
        }
        try {
            return ChunkFile.open(new ObjectRangeReader(dataset.store(), orphan.name()))
                    .identity()
                    .ingest();
        } catch (StokerException e) {
            return "";
        }
    }

    /** What there is, the oldest first. */
    public List<Leftover> leftovers() {
        return leftovers;
    }

    /** Ingests whose lease is left although their version stands. */
    public List<String> finished() {
        return finished;
    }

    /**
     * Deletes what is planned, except what was committed or leased since.
     *
     * @return what was deleted
     */
    public List<Orphan> apply() throws IOException {
        Leases all = new Leases(dataset);
        Map<String, Lease> leases = all.all();
        List<Orphan> plan = new ArrayList<>();
        for (Leftover leftover : leftovers) {
            boolean isLeased = leftover.ingest().isEmpty()
                    ? !finished.containsAll(leases.keySet())
                    : leases.containsKey(leftover.ingest()) && !finished.contains(leftover.ingest());
            if (leftover.fate() == Leftover.Fate.DELETE && !isLeased) {
                plan.addAll(leftover.files());
            }
        }
        List<Orphan> deleted = Orphans.delete(dataset, plan);
        finished.forEach(all::release);
        return deleted;
    }

    /**
     * Ends an ingest: nothing can be committed under its id any more. Then deletes its chunks and its lease.
     *
     * @param by who, for people: user and host
     * @return the ingest's entry in the log, which is a version of it if it had committed before
     */
    public static LogEntry end(Dataset dataset, String ingest, InstantSource clock, String by) throws IOException {
        dataset.log().requireNewestEntries();
        LogEntry entry = new Committer(dataset, clock, by).abandon(ingest);
        List<Orphan> chunks = new ArrayList<>();
        for (Orphan orphan : Orphans.without(dataset, Orphans.list(dataset), clock)) {
            if (entry.operation() == Operation.ABANDON
                    && ingest(dataset, orphan).equals(ingest)) {
                chunks.add(orphan);
            }
        }
        Orphans.delete(dataset, chunks);
        new Leases(dataset).release(ingest);
        return entry;
    }
}

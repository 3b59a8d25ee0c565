package dev.stoker.metadata.compaction;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.UsedClasses;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.CommitUnknownException;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.metadata.work.ThreadWorkers;
import dev.stoker.metadata.work.Workers;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.ToIntFunction;

/**
 * Runs a compaction: packs the groups of a plan, and commits the results as one version, once per id even after
 * retries. Other commits may happen meanwhile. If one of them changes a chunk of a group, the group is left out. For
 * one thread; an interrupt stops it before anything is committed.
 */
public final class Compaction {

    /** Chunks that each of other workers reads at a time. */
    private static final int READS = 8;

    private final Dataset dataset;
    private final String ingest;
    private final String committedBy;
    private final InstantSource clock;
    private final Function<CompactionPlan, Workers> workers;
    private final ToIntFunction<CompactionPlan> reads;
    private final LongConsumer progress;

    /**
     * A compaction with threads of this process.
     *
     * @param ingest the id, beginning with {@link VersionRequest#COMPACTION}; at most one version is committed under it
     * @param committedBy the committing user and host, for information
     * @param progress receives the number of bytes read since its last call, on any thread
     */
    public Compaction(
            Dataset dataset,
            String ingest,
            String committedBy,
            InstantSource clock,
            CompactionThreads threads,
            LongConsumer progress) {
        this(
                dataset,
                ingest,
                committedBy,
                clock,
                plan -> new ThreadWorkers(dataset.store(), Compaction::start, packers(threads, plan)),
                plan -> Math.max(1, threads.reads() / packers(threads, plan)),
                progress);
    }

    /**
     * A compaction with other workers.
     *
     * @param ingest the id, beginning with {@link VersionRequest#COMPACTION}; at most one version is committed under it
     * @param committedBy the committing user and host, for information
     * @param workers pack groups; each one keeps a group in memory
     * @param progress receives the number of bytes read since its last call, on any thread
     */
    public Compaction(
            Dataset dataset,
            String ingest,
            String committedBy,
            InstantSource clock,
            Workers workers,
            LongConsumer progress) {
        this(dataset, ingest, committedBy, clock, plan -> workers, plan -> READS, progress);
    }

    private Compaction(
            Dataset dataset,
            String ingest,
            String committedBy,
            InstantSource clock,
            Function<CompactionPlan, Workers> workers,
            ToIntFunction<CompactionPlan> reads,
            LongConsumer progress) {
        this.dataset = dataset;
        this.ingest = ingest;
        this.committedBy = committedBy;
        this.clock = clock;
        this.workers = workers;
        this.reads = reads;
        this.progress = progress;
    }

    /** The result of an earlier run under this id. */
    public Optional<CompactionResult> committed() throws IOException {
        return committer().find(ingest).map(commit -> new CompactionResult(Optional.of(commit.entry()), true, 0));
    }

    /**
     * Executes a plan.
     *
     * @throws CompactionFailedException if a chunk is damaged, or if other commits have changed all chunks meanwhile
     * @throws dev.stoker.metadata.commit.CommitUnknownException if the store cannot tell whether the commit succeeded
     */
    public CompactionResult run(CompactionPlan plan) throws IOException, InterruptedException {
        Optional<CompactionResult> before = committed();
        if (before.isPresent()) {
            return before.get();
        }
        Leases leases = new Leases(dataset);
        leases.take(ingest, clock, committedBy, WriterProcess.current());
        boolean isUnknown = false;
        try {
            // An erasure deletes chunks after it has seen no lease of a compaction. So chunks that lost rows before
            // this lease existed must not be copied.
            CompactionPlan current = plan.unchangedIn(dataset.latest());
            CompactionResult result = packAndCommit(current);
            return new CompactionResult(
                    result.entry(), result.isRepeated(), result.leftOut() + plan.sources() - current.sources());
        } catch (CommitUnknownException e) {
            isUnknown = true;
            throw e;
        } finally {
            if (!isUnknown) {
                leases.release(ingest);
            }
        }
    }

    private CompactionResult packAndCommit(CompactionPlan plan) throws IOException, InterruptedException {
        List<PackedGroup> packed = pack(plan);
        Set<UUID> unused = ids(packed);
        List<PackedGroup> worth = new ArrayList<>(packed);
        worth.removeIf(group -> !group.isWorth());
        int leftOut = 0;
        while (!worth.isEmpty()) {
            try {
                Commit commit = committer().commit(request(worth));
                commit.entry().added().forEach(chunk -> unused.remove(chunk.id()));
                UnusedChunks.delete(dataset.store(), unused);
                return new CompactionResult(Optional.of(commit.entry()), commit.repeated(), leftOut);
            } catch (ChangedChunksException e) {
                worth.removeAll(e.groups());
                leftOut += e.groups().stream()
                        .mapToInt(group -> group.group().sources().size())
                        .sum();
                if (worth.isEmpty()) {
                    // The exception replaces the publication: the chunks are in no version.
                    UnusedChunks.delete(dataset.store(), unused);
                    throw CompactionFailedException.overtaken(e.version());
                }
            }
        }
        UnusedChunks.delete(dataset.store(), unused);
        return new CompactionResult(Optional.empty(), false, 0);
    }

    private VersionCommitter committer() {
        return new VersionCommitter(dataset, clock, committedBy);
    }

    private List<PackedGroup> pack(CompactionPlan plan) throws IOException, InterruptedException {
        // In the order of the plan, so that the same compaction assigns the same ordinals.
        SortedMap<Integer, PackedGroup> packed = new TreeMap<>();
        try {
            workers.apply(plan)
                    .run(
                            plan.groups().size(),
                            new GroupPacking(plan, ingest, clock.instant(), reads.applyAsInt(plan)),
                            written -> {
                                ChunkGroup group = plan.groups().get(written.group());
                                progress.accept(group.bytes());
                                packed.put(written.group(), written.of(group));
                            });
        } catch (IOException | InterruptedException | RuntimeException e) {
            // No commit was tried yet, so no other process can know these chunks.
            UnusedChunks.delete(dataset.store(), ids(packed.values()));
            throw e;
        }
        return new ArrayList<>(packed.values());
    }

    private static int packers(CompactionThreads threads, CompactionPlan plan) {
        return threads.packers(
                Math.max(1, plan.groups().size()),
                plan.longestGroup() + 2L * plan.rules().chunkSizeBytes());
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "stoker-pack");
        thread.setDaemon(true);
        thread.start();
    }

    private static Set<UUID> ids(Collection<PackedGroup> groups) {
        Set<UUID> ids = new HashSet<>();
        groups.forEach(group -> group.chunks().forEach(chunk -> ids.add(chunk.id())));
        return ids;
    }

    private VersionRequest request(List<PackedGroup> groups) {
        List<ChunkSummary> added = new ArrayList<>();
        UsedClasses used = new UsedClasses();
        int sources = 0;
        for (PackedGroup group : groups) {
            added.addAll(group.chunks());
            sources += group.group().sources().size();
            used.add(group.classes());
        }
        return VersionRequest.compact(
                ingest,
                added,
                base -> removed(base, groups),
                used.lists(),
                Map.of("compacted.chunks", Integer.toString(sources)));
    }

    private static List<RemovedRows> removed(Snapshot base, List<PackedGroup> groups) throws ChangedChunksException {
        List<PackedGroup> changed = groups.stream()
                .filter(group -> !group.group().sources().stream().allMatch(s -> s.isUnchanged(base.table())))
                .toList();
        if (!changed.isEmpty()) {
            throw new ChangedChunksException(base.version(), changed);
        }
        return groups.stream()
                .flatMap(group -> group.group().sources().stream())
                .sorted(Comparator.comparingLong(ReplacedChunk::ordinal))
                .map(source -> RemovedRows.wholeChunk(source.ordinal()))
                .toList();
    }
}

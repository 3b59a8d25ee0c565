package dev.stoker.metadata.compaction;

import dev.stoker.metadata.Commit;
import dev.stoker.metadata.CommitRequest;
import dev.stoker.metadata.CommitUnknownException;
import dev.stoker.metadata.Committer;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Leases;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.WriterProcess;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a compaction: packs the groups of a plan, and commits the results as one version, once per id even after
 * retries. Other commits may happen meanwhile. If one of them changes a chunk of a group, the group is left out. For
 * one thread; an interrupt stops it before anything is committed.
 */
public final class Compaction {

    private static final Logger LOG = LoggerFactory.getLogger(Compaction.class);

    private final Dataset dataset;
    private final String ingest;
    private final String committedBy;
    private final InstantSource clock;
    private final CompactionThreads threads;
    private final LongConsumer progress;

    /**
     * @param ingest the id, beginning with {@link CommitRequest#COMPACTION}; at most one version is committed under it
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
        this.dataset = dataset;
        this.ingest = ingest;
        this.committedBy = committedBy;
        this.clock = clock;
        this.threads = threads;
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
     * @throws dev.stoker.metadata.CommitUnknownException if the store cannot tell whether the commit succeeded
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
            return packAndCommit(plan);
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
        Set<UUID> written = ConcurrentHashMap.newKeySet();
        Packing packing = new Packing(dataset, plan, ingest, clock.instant(), written, progress);
        List<PackedGroup> packed;
        try {
            packed = pack(packing);
        } catch (IOException | InterruptedException | RuntimeException e) {
            // No commit was tried yet, so no other process can know these chunks.
            delete(written, Set.of());
            throw e;
        }
        List<PackedGroup> worth = new ArrayList<>(packed);
        worth.removeIf(group -> !group.isWorth());
        int leftOut = 0;
        while (!worth.isEmpty()) {
            try {
                Commit commit = committer().commit(request(worth));
                Set<UUID> known = new HashSet<>();
                commit.entry().added().forEach(chunk -> known.add(chunk.id()));
                delete(written, known);
                return new CompactionResult(Optional.of(commit.entry()), commit.repeated(), leftOut);
            } catch (ChangedChunksException e) {
                worth.removeAll(e.groups());
                leftOut += e.groups().stream()
                        .mapToInt(group -> group.group().sources().size())
                        .sum();
                if (worth.isEmpty()) {
                    // The exception replaces the publication: the chunks are in no version.
                    delete(written, Set.of());
                    throw CompactionFailedException.overtaken(e.version());
                }
            }
        }
        delete(written, Set.of());
        return new CompactionResult(Optional.empty(), false, 0);
    }

    private Committer committer() {
        return new Committer(dataset, clock, committedBy);
    }

    private List<PackedGroup> pack(Packing packing) throws IOException, InterruptedException {
        List<ChunkGroup> groups = packing.plan().groups();
        if (groups.isEmpty()) {
            return List.of();
        }
        int longest = (int) groups.stream().mapToLong(ChunkGroup::bytes).max().orElseThrow();
        int packers = threads.packers(
                groups.size(), longest + 2L * packing.plan().rules().chunkSizeBytes());
        ExecutorService reads = pool("stoker-read-", threads.reads());
        ExecutorService packs = pool("stoker-pack-", packers);
        try {
            BlockingQueue<GroupPacker> free = new ArrayBlockingQueue<>(packers);
            for (int i = 0; i < packers; i++) {
                free.add(new GroupPacker(packing, reads, longest));
            }
            List<Future<PackedGroup>> running = new ArrayList<>();
            for (ChunkGroup group : groups) {
                running.add(packs.submit(() -> {
                    GroupPacker packer = free.take();
                    try {
                        return packer.pack(group);
                    } finally {
                        free.add(packer);
                    }
                }));
            }
            List<PackedGroup> packed = new ArrayList<>();
            for (Future<PackedGroup> group : running) {
                packed.add(group.get());
            }
            return packed;
        } catch (ExecutionException e) {
            throw Failures.rethrown(e);
        } finally {
            stop(packs);
            stop(reads);
        }
    }

    private static ExecutorService pool(String name, int threads) {
        return Executors.newFixedThreadPool(threads, work -> {
            Thread thread = new Thread(work, name);
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Waits for writing threads, so that none is left when chunks are selected for deletion. */
    private static void stop(ExecutorService pool) {
        pool.shutdownNow();
        boolean isInterrupted = Thread.interrupted();
        try {
            if (!pool.awaitTermination(30, TimeUnit.SECONDS)) {
                LOG.warn("A thread of the compaction is still waiting for the store");
            }
        } catch (InterruptedException e) {
            isInterrupted = true;
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private CommitRequest request(List<PackedGroup> groups) {
        List<ChunkSummary> added = new ArrayList<>();
        Map<String, SortedSet<String>> classes = new TreeMap<>();
        int sources = 0;
        for (PackedGroup group : groups) {
            added.addAll(group.chunks());
            sources += group.group().sources().size();
            group.classes()
                    .forEach((field, names) ->
                            classes.computeIfAbsent(field, f -> new TreeSet<>()).addAll(names));
        }
        Map<String, List<String>> names = new TreeMap<>();
        classes.forEach((field, used) -> names.put(field, List.copyOf(used)));
        return CommitRequest.compact(
                ingest,
                added,
                base -> removed(base, groups),
                names,
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
                .sorted(Comparator.comparingLong(SourceChunk::ordinal))
                .map(source -> RemovedRows.wholeChunk(source.ordinal()))
                .toList();
    }

    /** Deletes this run's chunks that no version has. {@code stoker gc} deletes the ones that cannot be deleted now. */
    private void delete(Set<UUID> written, Set<UUID> known) {
        boolean isInterrupted = Thread.interrupted();
        for (UUID id : written) {
            if (!known.contains(id)) {
                try {
                    dataset.store().delete(ChunkNames.path(id));
                } catch (IOException e) {
                    LOG.warn("Unused chunk {} was not deleted: {}", id, e.toString());
                }
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

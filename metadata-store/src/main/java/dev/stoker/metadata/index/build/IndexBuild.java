package dev.stoker.metadata.index.build;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.index.run.DamagedRunException;
import dev.stoker.metadata.index.run.DeletedChunkIds;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.metadata.index.run.IndexRuns;
import dev.stoker.metadata.index.run.RowCursor;
import dev.stoker.metadata.index.run.RunCursor;
import dev.stoker.metadata.work.Workers;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.index.RunIdentity;
import dev.stoker.schemas.index.RunWriter;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the sample index of a dataset up to date: writes runs for versions without one, merges runs, and replaces
 * damaged ones. Memory is bounded; rows that do not fit are sorted in temporary files. Builds of several processes may
 * run at the same time, beside writers, readers and erasures. Not thread-safe.
 */
public final class IndexBuild {

    private static final Logger LOG = LoggerFactory.getLogger(IndexBuild.class);

    private static final int HASHES_IN_MEMORY = 4 << 20;

    private final Dataset dataset;
    private final ObjectStore store;
    private final RowReads reads;

    /**
     * A build with threads of this process.
     *
     * @param progress receives the number of samples read since its last call, from any of the threads
     */
    public IndexBuild(Dataset dataset, BuildThreads threads, LongConsumer progress) {
        this(dataset, threads.reads(dataset, progress));
    }

    /**
     * A build with workers on other machines.
     *
     * @param progress receives the number of samples read since its last call, on any thread
     */
    public IndexBuild(Dataset dataset, Workers workers, LongConsumer progress) {
        this(dataset, new StoredRows(dataset.store(), workers, progress));
    }

    private IndexBuild(Dataset dataset, RowReads reads) {
        this.dataset = dataset;
        this.store = dataset.store();
        this.reads = reads;
    }

    /**
     * Reports a build.
     *
     * @param version the version up to which the index is complete
     * @param written runs that were written
     * @param runs all runs after the build
     * @param rows rows of all runs
     * @param replaced messages about damaged runs that were replaced
     */
    public record Result(long version, int written, int runs, long rows, List<String> replaced) {
        public Result {
            replaced = List.copyOf(replaced);
        }
    }

    /**
     * Writes what is missing.
     *
     * @throws dev.stoker.schemas.errors.FormatTooNewException if a newer Stoker maintains the index
     * @throws InterruptedException if interrupted
     */
    public Result update() throws IOException, InterruptedException {
        List<String> replaced = new ArrayList<>();
        while (true) {
            // In this order: a run that is listed covers versions that the table has.
            List<IndexRange> ranges = IndexRuns.list(store);
            ChunkTable table = dataset.latest().table();
            List<SampleRun> runs = new ArrayList<>();
            for (IndexRange range : ranges) {
                open(table, range, replaced).ifPresent(runs::add);
            }
            try {
                return build(table, IndexPlan.of(table, withoutSuperseded(runs)), replaced);
            } catch (DamagedRunException e) {
                // The next round reads the heads of its chunks, or the run of a build that has merged and deleted it.
                if (!(e.getCause() instanceof NoSuchObjectException)) {
                    discard(range(e.run()), String.valueOf(e.getMessage()), replaced);
                }
            }
        }
    }

    /** Writes the whole index again, from the heads of all chunks. */
    public Result rebuild() throws IOException, InterruptedException {
        ChunkTable table = dataset.latest().table();
        return build(table, IndexPlan.of(table, List.of()), List.of());
    }

    private Optional<SampleRun> open(ChunkTable table, IndexRange range, List<String> replaced) throws IOException {
        try {
            return Optional.of(IndexRuns.open(dataset, table, range));
        } catch (CorruptDataException | ForeignFileException e) {
            discard(range, String.valueOf(e.getMessage()), replaced);
        } catch (NoSuchObjectException e) {
            // Another build has superseded it.
        }
        return Optional.empty();
    }

    private void discard(IndexRange range, String message, List<String> replaced) throws IOException {
        LOG.warn("The sample index is built again for {} to {}: {}", range.first(), range.last(), message);
        replaced.add(message);
        store.delete(range.name());
    }

    private static List<SampleRun> withoutSuperseded(List<SampleRun> runs) {
        List<IndexRange> ranges = runs.stream().map(IndexBuild::range).toList();
        List<IndexRange> superseded = IndexRange.superseded(ranges);
        return runs.stream().filter(run -> !superseded.contains(range(run))).toList();
    }

    private static IndexRange range(SampleRun run) {
        return new IndexRange(run.identity().first(), run.identity().last());
    }

    private Result build(ChunkTable table, List<IndexPlan.Target> targets, List<String> replaced)
            throws IOException, InterruptedException {
        int written = 0;
        int count = 0;
        long rows = 0;
        for (IndexPlan.Target target : targets) {
            long own = target.rows();
            if (!target.isThere()) {
                own = write(table, target);
                written += own > 0 ? 1 : 0;
            }
            count += own > 0 ? 1 : 0;
            rows += own;
        }
        for (IndexRange range : IndexRange.superseded(IndexRuns.list(store))) {
            store.delete(range.name());
        }
        return new Result(table.version(), written, count, rows, replaced);
    }

    /**
     * Writes a run without the chunks of erasures. An erasure records its chunks before it deletes runs. So a run that
     * was published after that is seen here to have too many rows, and is written again.
     *
     * @return the number of rows
     */
    private long write(ChunkTable table, IndexPlan.Target target) throws IOException, InterruptedException {
        Set<UUID> deleted = DeletedChunkIds.read(dataset);
        while (true) {
            long rows = write(table, target, deleted);
            Set<UUID> now = rows == 0 ? deleted : DeletedChunkIds.read(dataset);
            if (deleted.containsAll(now)) {
                return rows;
            }
            store.delete(target.range().name());
            deleted = now;
        }
    }

    private long write(ChunkTable table, IndexPlan.Target target, Set<UUID> deleted)
            throws IOException, InterruptedException {
        IndexRange range = target.range();
        RunIdentity identity = RunIdentity.of(table, range.first(), range.last());
        try (Scratch scratch = new Scratch();
                ObjectWriter out = store.write(range.name());
                SpilledHashes hashes = new SpilledHashes(scratch, HASHES_IN_MEMORY)) {
            RunWriter writer = new RunWriter(identity, out::write, hashes);
            int[] chunks = target.chunks().stream()
                    .mapToInt(Integer::intValue)
                    .filter(chunk -> !deleted.contains(table.id(chunk)))
                    .toArray();
            List<RowCursor> read = reads.collect(table, chunks, scratch);
            List<RowCursor> cursors = Stream.concat(target.runs().stream().map(RunCursor::new), read.stream())
                    .toList();
            try (RowMerge rows = new RowMerge(cursors)) {
                while (rows.next()) {
                    // Merged runs may have rows of deleted chunks.
                    if (!deleted.isEmpty() && isOf(deleted, table, rows.row().ordinal())) {
                        continue;
                    }
                    writer.add(rows.key(), 0, rows.key().length, rows.row());
                }
            }
            if (writer.rows() == 0) {
                return 0;
            }
            writer.finish();
            publish(table, range, out);
            return writer.rows();
        }
    }

    private static boolean isOf(Set<UUID> chunks, ChunkTable table, long ordinal) {
        int index = table.indexOf(ordinal);
        return index >= 0 && chunks.contains(table.id(index));
    }

    private void publish(ChunkTable table, IndexRange range, ObjectWriter out) throws IOException {
        // A run of this name is from a build at the same time, or is replaced on purpose. Both have the same rows.
        store.delete(range.name());
        try {
            out.commit();
        } catch (IOException e) {
            try {
                IndexRuns.open(dataset, table, range);
            } catch (IOException absent) {
                e.addSuppressed(absent);
                throw e;
            }
        }
    }
}

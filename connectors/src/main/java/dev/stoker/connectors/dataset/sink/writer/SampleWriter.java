package dev.stoker.connectors.dataset.sink.writer;

import dev.stoker.connectors.dataset.CommitRefusedException;
import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.SampleKeys;
import dev.stoker.connectors.dataset.SampleSerializer;
import dev.stoker.connectors.dataset.SinkTarget;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.flink.failure.Patience;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetExistsException;
import dev.stoker.metadata.chunks.ChunkOutput;
import dev.stoker.metadata.chunks.OpenChunks;
import dev.stoker.metadata.chunks.UsedClasses;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.flink.api.connector.sink2.CommittingSinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.jspecify.annotations.Nullable;

/**
 * Packs records into chunks. Creates the dataset and the lease before its first chunk. Reports its chunks before each
 * checkpoint, and when the input ends. Keeps one chunk of each split in memory. Runs on the task's thread.
 */
public final class SampleWriter<T> implements CommittingSinkWriter<T, PackReport> {

    /** Each split has a chunk in memory. */
    private static final int MAX_SPLITS = 16;

    private final SinkTarget target;
    private final SampleSerializer<T> serializer;
    private final int subtask;
    private final int tasks;
    private final String keyPrefix;
    private final Counter sent;
    private final Patience patience = Patience.ofBatchAtWork();
    private final List<PackReport> reports = new ArrayList<>();
    private final SortedSet<String> splits = new TreeSet<>();
    private UsedClasses classes = new UsedClasses();
    private @Nullable ObjectStore store;
    private @Nullable OpenChunks open;
    private long number;
    private int chunks;
    private int reported;

    public SampleWriter(SinkTarget target, SampleSerializer<T> serializer, WriterInitContext context) {
        this.target = target;
        this.serializer = serializer;
        subtask = context.getTaskInfo().getIndexOfThisSubtask();
        tasks = context.getTaskInfo().getNumberOfParallelSubtasks();
        sent = context.metricGroup().getNumRecordsSendCounter();
        // Versions until the restored checkpoint have keys of earlier attempts. None of the later records is committed.
        OptionalLong restored = context.getRestoredCheckpointId();
        keyPrefix =
                target.run().ingest() + "/" + subtask + (restored.isPresent() ? "." + restored.getAsLong() : "") + "/";
    }

    @Override
    public void write(T record, Context context) throws IOException, InterruptedException {
        try {
            String named = serializer.split(record);
            String split = named.isEmpty() ? target.split() : named;
            requireFew(split);
            add(begin().forSample(split, serializer.size(record)), record);
            report();
            sent.inc();
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
    }

    private void add(ChunkBuilder row, T record) throws IOException {
        try {
            row.beginRow(target.keys() == SampleKeys.GIVEN ? serializer.key(record) : keyPrefix + number);
            serializer.serialize(record, row);
            row.endRow();
        } catch (IOException | IllegalArgumentException | IllegalStateException e) {
            row.abandonRow();
            // A new attempt would meet the same record.
            throw new SuppressRestartsException(new IOException(
                    "Cannot write to " + target.run().target() + ": " + ErrorText.of(e)
                            + "; the job stops and does not commit this sample",
                    e));
        }
        number++;
    }

    private void requireFew(String split) {
        if (!splits.contains(split) && splits.size() == MAX_SPLITS) {
            throw new SuppressRestartsException(new IOException("Cannot write to "
                    + target.run().target() + ": the rows have more than " + MAX_SPLITS + " splits, " + split
                    + " after " + String.join(", ", splits) + "; write fewer splits with each job"));
        }
        splits.add(split);
    }

    private OpenChunks begin() throws IOException, InterruptedException {
        OpenChunks begun = open;
        if (begun == null) {
            DatasetInfo described =
                    DatasetInfo.decode(target.description(), target.run().target());
            patience.run("Opening " + target.run().target(), () -> begin(described));
            ObjectStore opened = store;
            if (opened == null) {
                throw new IllegalStateException("The store is not open");
            }
            ChunkOutput output = new ChunkOutput(
                    opened,
                    UUID.fromString(target.run().dataset()),
                    target.run().ingest(),
                    (what, attempt) -> patience.run(what, attempt::run));
            begun = new OpenChunks(described.fields(), target.chunkSizeBytes(), output);
            open = begun;
        }
        return begun;
    }

    /** Checks the store, and creates the dataset, if it does not exist, and the lease. */
    private void begin(DatasetInfo described) throws IOException {
        ObjectStore opened = target.run().store().open(target.run().target());
        store = opened;
        Stores.requireAtomicCreate(opened);
        if (Dataset.find(opened).isEmpty()) {
            try {
                Dataset.create(opened, described);
            } catch (DatasetExistsException e) {
                // Another writer of the job was faster, which the check below confirms.
            }
        }
        Dataset dataset = Dataset.open(opened);
        if (!dataset.info().id().equals(described.id())) {
            throw new CommitRefusedException("Another dataset was created at "
                    + target.run().target() + " after the job was planned; nothing is committed, run the job again");
        }
        new Leases(dataset).take(target.run().ingest(), Clock.systemUTC(), WriterProcess.user(), WriterProcess.ofJob());
    }

    /** Reports the chunks that became durable. */
    private void report() {
        OpenChunks filled = open;
        if (filled == null) {
            return;
        }
        for (ChunkSummary chunk : filled.takeChunks()) {
            reports.add(new PackReport.Chunk(subtask, chunks++, chunk));
        }
        classes.add(filled.takeUsed());
    }

    /** Writes the last chunks before a checkpoint, or at the end of the input. */
    @Override
    public void flush(boolean endOfInput) throws IOException, InterruptedException {
        if (open != null) {
            open.flush();
        }
        report();
        if (endOfInput || chunks > reported) {
            reports.add(new PackReport.Done(subtask, tasks, chunks - reported, classes.names(), Map.of(), Map.of()));
            reported = chunks;
            classes = new UsedClasses();
        }
    }

    @Override
    public Collection<PackReport> prepareCommit() {
        List<PackReport> prepared = List.copyOf(reports);
        reports.clear();
        return prepared;
    }

    @Override
    public void close() throws IOException {
        ObjectStore opened = store;
        if (opened != null) {
            opened.close();
        }
    }
}

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
import dev.stoker.metadata.chunks.ChunkWrites;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
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

    private static final SecureRandom RANDOM = new SecureRandom();

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
    private final SortedMap<String, SortedSet<String>> classes = new TreeMap<>();
    private final SortedMap<String, ChunkBuilder> open = new TreeMap<>();
    private @Nullable ObjectStore store;
    private @Nullable DatasetInfo info;
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
            ChunkBuilder chunk = open(split);
            if (chunk.rows() > 0 && chunk.lengthWith(serializer.size(record)) > target.chunkSizeBytes()) {
                finishChunk(split, chunk);
            }
            add(chunk, record);
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

    private ChunkBuilder open(String split) throws IOException, InterruptedException {
        ChunkBuilder chunk = open.get(split);
        if (chunk == null) {
            if (open.size() == MAX_SPLITS) {
                throw new SuppressRestartsException(new IOException("Cannot write to "
                        + target.run().target() + ": the rows have more than " + MAX_SPLITS + " splits, " + split
                        + " after " + String.join(", ", open.keySet()) + "; write fewer splits with each job"));
            }
            chunk = new ChunkBuilder(begin().fields(), target.chunkSizeBytes());
            open.put(split, chunk);
        }
        return chunk;
    }

    private DatasetInfo begin() throws IOException, InterruptedException {
        DatasetInfo begun = info;
        if (begun == null) {
            DatasetInfo described =
                    DatasetInfo.decode(target.description(), target.run().target());
            patience.run("Opening " + target.run().target(), () -> begin(described));
            info = described;
            begun = described;
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

    private void finishChunk(String split, ChunkBuilder full) throws IOException, InterruptedException {
        ObjectStore opened = store;
        if (opened == null) {
            throw new IllegalStateException("The store is not open");
        }
        long nowMs = System.currentTimeMillis();
        UUID dataset = UUID.fromString(target.run().dataset());
        PackedChunk packed = full.finish(new ChunkIdentity(
                dataset, ChunkNames.newId(nowMs, RANDOM), target.run().ingest(), split, Instant.ofEpochMilli(nowMs)));
        ChunkWrites.write(opened, packed, (what, attempt) -> patience.run(what, attempt::run));
        packed.classes()
                .forEach((field, names) ->
                        classes.computeIfAbsent(field, f -> new TreeSet<>()).addAll(names));
        reports.add(new PackReport.Chunk(subtask, chunks++, packed.summary()));
        full.reset();
    }

    /** Writes the last chunks before a checkpoint, or at the end of the input. */
    @Override
    public void flush(boolean endOfInput) throws IOException, InterruptedException {
        for (Map.Entry<String, ChunkBuilder> split : open.entrySet()) {
            if (split.getValue().rows() > 0) {
                finishChunk(split.getKey(), split.getValue());
            }
        }
        if (endOfInput || chunks > reported) {
            reports.add(
                    new PackReport.Done(subtask, tasks, chunks - reported, new TreeMap<>(classes), Map.of(), Map.of()));
            reported = chunks;
            classes.clear();
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

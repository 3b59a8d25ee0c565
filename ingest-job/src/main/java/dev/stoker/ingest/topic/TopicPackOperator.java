package dev.stoker.ingest.topic;

import dev.stoker.connectors.dataset.TooManyDeadLettersException;
import dev.stoker.connectors.dataset.TopicReport;
import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.connectors.kafka.PartitionFetch;
import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.flink.failure.Patience;
import dev.stoker.ingest.pack.Splits;
import dev.stoker.ingest.topic.value.DeadLetters;
import dev.stoker.ingest.topic.value.PoisonException;
import dev.stoker.ingest.topic.value.RowMaker;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.chunks.ChunkOutput;
import dev.stoker.metadata.chunks.OpenChunks;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * Packs a topic's records into chunks. Before each checkpoint's barrier it writes the open chunks and reports the
 * outcome of all records since the last one, so its state contains no records. Runs on the task's thread; other threads
 * write the chunks.
 */
final class TopicPackOperator extends AbstractStreamOperator<TopicReport>
        implements OneInputStreamOperator<PartitionFetch, TopicReport>, BoundedOneInput {

    private static final long serialVersionUID = 1;

    private static final String KEYS_STATE = "keys";
    private static final long HELD_BYTES = 32L << 20;

    private final TopicPackPlan plan;

    private transient Patience patience;
    private transient ObjectStore store;
    private transient RowMaker rows;
    private transient Splits splits;
    private transient OpenChunks chunks;
    private transient DeadLetters letters;
    private transient @Nullable ListState<byte[]> keysState;
    private transient @Nullable SeenKeys keys;
    /** Null unless later records change the samples of earlier ones. */
    private transient @Nullable ChangeBuffer changes;
    /** Takes records for a trial, before they replace others. */
    private transient @Nullable ChunkBuilder trial;

    private transient SortedMap<Integer, Long> next;
    private transient long deadLetters;
    private transient long samples;
    private transient long sampleBytes;
    private transient long allDeadLetters;
    private transient long lastCheckpoint;
    private transient boolean ended;
    private transient Optional<TopicMeter> meter;
    private transient Counter sampleCounter;
    private transient Counter byteCounter;
    private transient Counter deadLetterCounter;
    private transient Counter leftOutCounter;

    TopicPackOperator(TopicPackPlan plan) {
        this.plan = plan;
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        lastCheckpoint = context.getRestoredCheckpointId().orElse(0);
        if (plan.mapping().keys().areOwn()) {
            keys = new SeenKeys();
            keysState = context.getOperatorStateStore()
                    .getListState(new ListStateDescriptor<>(
                            KEYS_STATE, PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
            for (byte[] hashes : keysState.get()) {
                keys.addAll(hashes);
            }
        }
    }

    @Override
    public void open() throws Exception {
        super.open();
        ClassLoaderCleanup.atUnload(getRuntimeContext());
        patience = Patience.endlessAfterRestore();
        store = patience.call(
                "Opening " + plan.place().target(),
                () -> plan.place().store().open(plan.place().target()));
        DatasetInfo info = plan.info();
        String topic = plan.topic().topic();
        rows = new RowMaker(
                topic, plan.mapping(), plan.value(), info.fields(), plan.topic().clients());
        splits = new Splits(plan.splitRule());
        int task = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        chunks = new OpenChunks(
                info.fields(),
                plan.chunkSizeBytes(),
                new ChunkOutput(
                        store, info.id(), plan.place().run(), (what, attempt) -> patience.run(what, attempt::run)),
                "stoker-pack-" + task);
        letters = new DeadLetters(plan.letters().location(), topic, plan.topicId());
        if (keys != null && plan.place().baseVersion() > 0) {
            SeenKeys taken = keys;
            patience.run(
                    "Reading the keys of " + plan.place().target(),
                    () -> taken.addAll(Dataset.open(store), plan.place().baseVersion()));
        }
        if (plan.mapping().keys() == TopicRun.Keys.CHANGES) {
            changes = new ChangeBuffer(HELD_BYTES);
            trial = new ChunkBuilder(info.fields(), 1 << 20);
        }
        next = new TreeMap<>();
        meter = TopicMeter.find(plan.place().run());
        sampleCounter = getMetricGroup().counter("samples");
        byteCounter = getMetricGroup().counter("sampleBytes");
        deadLetterCounter = getMetricGroup().counter("deadLetters");
        leftOutCounter = getMetricGroup().counter("leftOut");
    }

    @Override
    public void processElement(StreamRecord<PartitionFetch> element) throws Exception {
        PartitionFetch fetch = element.getValue();
        try {
            for (SourceRecord record : fetch.records()) {
                add(record);
            }
        } finally {
            count();
        }
        next.put(fetch.partition(), fetch.end());
        meter.ifPresent(m -> m.reached(fetch.partition(), fetch.end()));
    }

    /** Adds the samples since the last call to the metrics, once for all records of a fetch. */
    private void count() {
        sampleCounter.inc(samples);
        byteCounter.inc(sampleBytes);
        meter.ifPresent(m -> m.packed(samples, sampleBytes));
        samples = 0;
        sampleBytes = 0;
    }

    private void add(SourceRecord record) throws Exception {
        try {
            pack(record);
        } catch (PoisonException e) {
            bury(record, e);
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
    }

    private void pack(SourceRecord record) throws Exception {
        if (record.value() == null && isLeftOut(RecordsLeftOut.TOMBSTONES)) {
            return;
        }
        String key = rows.key(record);
        if (changes != null) {
            change(changes, key, record);
            return;
        }
        if (keys != null && keys.contains(key)) {
            if (isLeftOut(RecordsLeftOut.DUPLICATES)) {
                return;
            }
            throw new PoisonException(
                    PoisonException.Reason.DUPLICATE_KEY, "the dataset already has a sample with its key");
        }
        addSample(key, record);
    }

    /** Holds a record that replaces or deletes the sample of its key. */
    private void change(ChangeBuffer changes, String key, SourceRecord record) throws Exception {
        ChunkBuilder once = Objects.requireNonNull(trial, "opened with the changes");
        if (record.value() != null) {
            try {
                rows.add(record, key, once);
            } finally {
                once.reset();
            }
        }
        if (changes.endsBefore(key)) {
            next.put(record.partition(), record.offset());
            report(lastCheckpoint);
        }
        changes.hold(key, record);
        if (changes.isFull()) {
            packHeld(changes);
        }
    }

    private void packHeld(ChangeBuffer changes) throws Exception {
        SeenKeys known = Objects.requireNonNull(keys, "the keys are the records' own");
        for (Map.Entry<String, SourceRecord> entry : changes.take().entrySet()) {
            String key = entry.getKey();
            if (known.contains(key)) {
                changes.removes(key);
            }
            if (entry.getValue().value() != null) {
                changes.packed(key);
                addSample(key, entry.getValue());
            }
        }
    }

    private void addSample(String key, SourceRecord record) throws Exception {
        long bytes = record.size();
        String split = splits.of(key);
        ChunkBuilder builder = chunks.forSample(split, Math.min(bytes + key.length(), RowMaker.MAX_SAMPLE_BYTES));
        rows.add(record, key, builder);
        if (keys != null) {
            keys.add(key);
        }
        samples++;
        sampleBytes += bytes;
    }

    /** Returns whether a record of this kind is left out, and counts it. */
    private boolean isLeftOut(RecordsLeftOut kind) {
        if (!plan.letters().leftOut().contains(kind)) {
            return false;
        }
        leftOutCounter.inc();
        meter.ifPresent(m -> m.leftOut(kind));
        return true;
    }

    private void bury(SourceRecord record, PoisonException poison) throws Exception {
        patience.run("Writing dead letters to " + plan.letters().location(), () -> letters.write(record, poison));
        deadLetters++;
        deadLetterCounter.inc();
        meter.ifPresent(TopicMeter::deadLetter);
        if (++allDeadLetters > plan.letters().most()) {
            String last =
                    "partition " + record.partition() + ", offset " + record.offset() + ": " + poison.getMessage();
            throw new SuppressRestartsException(TooManyDeadLettersException.of(
                    allDeadLetters, plan.letters().most(), last));
        }
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        lastCheckpoint = checkpointId;
        report(checkpointId);
    }

    @Override
    public void endInput() throws Exception {
        report(lastCheckpoint + 1);
        ended = true;
        int task = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        meter.ifPresent(m -> m.ended(task));
    }

    private void report(long checkpoint) throws Exception {
        if (ended) {
            return;
        }
        try {
            if (changes != null) {
                packHeld(changes);
                count();
            }
            chunks.flush();
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
        output.collect(new StreamRecord<>(new TopicReport(
                checkpoint,
                chunks.takeChunks(),
                changes == null ? List.of() : changes.end(),
                chunks.takeUsed().names(),
                next,
                deadLetters)));
        next = new TreeMap<>();
        deadLetters = 0;
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        if (keys != null) {
            Objects.requireNonNull(keysState).update(keys.toBytes());
        }
    }

    @Override
    public void close() throws Exception {
        try {
            if (chunks != null) {
                chunks.close();
            }
        } finally {
            IOUtils.closeAll(letters, store, super::close);
        }
    }
}

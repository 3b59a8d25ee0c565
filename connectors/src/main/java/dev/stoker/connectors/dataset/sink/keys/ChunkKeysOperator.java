package dev.stoker.connectors.dataset.sink.keys;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.flink.failure.Patience;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.connector.sink2.CommittableWithLineage;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;

/**
 * Emits the keys of new chunks with the number -1, and at the end the keys of the dataset's live samples with the
 * number of their chunk. Holds one head at a time, and reads no payload. Runs on the task's thread.
 */
public final class ChunkKeysOperator extends AbstractStreamOperator<Tuple2<String, Long>>
        implements OneInputStreamOperator<CommittableMessage<PackReport>, Tuple2<String, Long>>, BoundedOneInput {

    /** The number of new chunks. */
    static final long NEW = -1;

    private static final long serialVersionUID = 1;

    private final IngestRun run;
    private transient Patience patience;
    private transient @Nullable ObjectStore store;

    /** @param run the ingest. Unless it replaces all samples, the keys of its base version are emitted */
    public ChunkKeysOperator(IngestRun run) {
        this.run = run;
    }

    @Override
    public void open() throws Exception {
        super.open();
        ClassLoaderCleanup.atUnload(getRuntimeContext());
        patience = Patience.ofBatchAtWork();
    }

    private ObjectStore store() throws IOException {
        ObjectStore opened = store;
        if (opened == null) {
            opened = run.store().open(run.target());
            store = opened;
        }
        return opened;
    }

    @Override
    public void processElement(StreamRecord<CommittableMessage<PackReport>> element)
            throws IOException, InterruptedException {
        if (element.getValue() instanceof CommittableWithLineage<PackReport> report
                && report.getCommittable() instanceof PackReport.Chunk chunk) {
            ChunkHead head = call(() -> ChunkHeads.read(store(), chunk.chunk()));
            for (int row = 0; row < head.rows(); row++) {
                output.collect(new StreamRecord<>(Tuple2.of(head.key(row), NEW)));
            }
        }
    }

    @Override
    public void endInput() throws IOException, InterruptedException {
        if (run.effect() == IngestRun.Effect.REPLACE || run.baseVersion() == 0) {
            return;
        }
        ChunkTable table =
                call(() -> Dataset.open(store()).anySnapshot(run.baseVersion()).table());
        int tasks = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
        for (int i = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask(); i < table.size(); i += tasks) {
            if (table.isLive(i)) {
                emit(table, i);
            }
        }
    }

    private void emit(ChunkTable table, int index) throws IOException, InterruptedException {
        ChunkHead head = call(() -> ChunkHeads.readStored(store(), table, index));
        for (int row = 0; row < head.rows(); row++) {
            if (!ChunkHeads.isRemoved(table, index, row)) {
                output.collect(new StreamRecord<>(Tuple2.of(head.key(row), table.ordinal(index))));
            }
        }
    }

    private <T> T call(Patience.Call<T> read) throws IOException, InterruptedException {
        try {
            return patience.call("Reading the keys of " + run.target(), read);
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
    }

    @Override
    public void close() throws Exception {
        if (store != null) {
            store.close();
        }
        super.close();
    }
}

package dev.stoker.export.task;

import dev.stoker.export.place.ExportTarget;
import dev.stoker.export.read.ExportSelection;
import dev.stoker.export.read.ShardReader;
import dev.stoker.export.spec.Shard;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.path.DirectoryPaths;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.util.Optional;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/** Writes the shards whose numbers it receives. Runs on the task's thread. */
public final class ExportOperator extends AbstractStreamOperator<ShardReport>
        implements OneInputStreamOperator<Long, ShardReport> {
    private static final long serialVersionUID = 1;

    private final ExportWork work;

    private transient ObjectStore store;
    private transient ExportTarget target;
    private transient Snapshot snapshot;
    private transient ExportSelection selection;
    private transient OutputTable table;
    private transient DirectoryPaths paths;
    private transient long memoryBytes;
    private transient Optional<ExportMeter> meter;

    public ExportOperator(ExportWork work) {
        this.work = work;
    }

    @Override
    public void open() throws Exception {
        super.open();
        ClassLoaderCleanup.atUnload(getRuntimeContext());
        store = Stores.open(work.dataset());
        target = work.target().open();
        Dataset dataset = Dataset.open(store);
        snapshot = dataset.anySnapshot(work.version());
        paths = new DirectoryPaths(new ExportedKeys(dataset, snapshot));
        selection = ExportSelection.of(snapshot.info().fields(), work.content());
        table = Tables.of(snapshot, work.content());
        int tasks = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
        memoryBytes = Runtime.getRuntime().maxMemory() / 2 / tasks;
        meter = ExportMeter.find(work.target().export());
        meter.ifPresent(ExportMeter::started);
    }

    @Override
    public void processElement(StreamRecord<Long> element) throws Exception {
        int number = Math.toIntExact(element.getValue());
        try {
            output.collect(new StreamRecord<>(export(number)));
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
    }

    private ShardReport export(int number) throws IOException, InterruptedException {
        Shard shard = work.shards().get(number);
        try (ShardOutput out = ShardOutput.open(work, shard, target.files(), table, paths)) {
            long excluded = shard.rows() == 0 ? 0 : write(shard, out);
            out.commit();
            return new ShardReport(number, shard.rows() - excluded, excluded, out.files(), out.bytes());
        }
    }

    /** Writes the samples of a shard. Returns the number of samples that the condition excluded. */
    private long write(Shard shard, ShardOutput out) throws IOException, InterruptedException {
        ShardReader reader = ShardReader.of(store, snapshot, selection, work.order(), shard, memoryBytes);
        long excludedBefore = 0;
        for (RowBatch batch = reader.next(); batch != null; batch = reader.next()) {
            if (Thread.interrupted()) {
                throw new InterruptedException("the export is cancelled");
            }
            if (batch.rows() > 0) {
                out.write(batch);
            }
            long rows = batch.rows() + reader.excluded() - excludedBefore;
            int bytes = batch.message().limit();
            meter.ifPresent(m -> m.read(rows, bytes));
            excludedBefore = reader.excluded();
        }
        return reader.excluded();
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(target, store, super::close);
    }
}

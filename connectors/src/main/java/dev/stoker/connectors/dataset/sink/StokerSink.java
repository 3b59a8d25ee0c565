package dev.stoker.connectors.dataset.sink;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.SampleKeys;
import dev.stoker.connectors.dataset.SampleSerializer;
import dev.stoker.connectors.dataset.SinkTarget;
import dev.stoker.connectors.dataset.sink.committer.IngestCommittable;
import dev.stoker.connectors.dataset.sink.committer.IngestCommittableSerializer;
import dev.stoker.connectors.dataset.sink.committer.IngestCommitter;
import dev.stoker.connectors.dataset.sink.keys.ChunkKeysOperator;
import dev.stoker.connectors.dataset.sink.keys.KeyCheck;
import dev.stoker.connectors.dataset.sink.writer.GatheringOperator;
import dev.stoker.connectors.dataset.sink.writer.PackReportStateSerializer;
import dev.stoker.connectors.dataset.sink.writer.SampleWriter;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.Patience;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessageTypeInfo;
import org.apache.flink.streaming.api.connector.sink2.SupportsPreCommitTopology;
import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * Writes records as samples, and commits each record exactly once.
 *
 * <p>A job in batch mode commits one version after its last writer has ended. A job in streaming mode commits one
 * version for each checkpoint with records. Without checkpoints, a job in streaming mode commits one version at the end
 * of its input. A job that fails commits nothing after its last complete checkpoint; the chunks written since remain
 * until {@code stoker gc} deletes them.
 *
 * <p>Unless keys are given, the key of a sample is {@code <ingest>/<subtask>/<number>}, and no two samples have the
 * same one. After a restart from a checkpoint, the number of the checkpoint follows the subtask: {@code
 * <ingest>/<subtask>.<checkpoint>/<number>}. If keys are given, the sink compares the keys of the new samples with each
 * other and with the dataset, and refuses to commit if two samples have the same one. This needs the end of the input,
 * so it is refused with checkpoints.
 *
 * <p>Each parallel writer fills one chunk of each split in memory. Writers make chunks durable, and one committer
 * commits them. Planning a job creates nothing; the first writer with a record creates a dataset that does not exist.
 *
 * @param <T> the type of the records
 */
public final class StokerSink<T>
        implements Sink<T>,
                SupportsCommitter<IngestCommittable>,
                SupportsPreCommitTopology<PackReport, IngestCommittable> {

    private static final long serialVersionUID = 1;

    private final SinkTarget target;
    private final SampleSerializer<T> serializer;

    StokerSink(SinkTarget target, SampleSerializer<T> serializer) {
        this.target = target;
        this.serializer = serializer;
    }

    /** Begins a sink. */
    public static <T> StokerSinkBuilder<T> builder() {
        return new StokerSinkBuilder<>();
    }

    @Override
    public SinkWriter<T> createWriter(WriterInitContext context) {
        ClassLoaderCleanup.atUnload(context.getUserCodeClassLoader());
        return new SampleWriter<>(target, serializer, context);
    }

    @Override
    public DataStream<CommittableMessage<IngestCommittable>> addPreCommitTopology(
            DataStream<CommittableMessage<PackReport>> reports) {
        return (target.keys() == SampleKeys.GIVEN ? reports.union(checkKeys(reports)) : reports)
                .global()
                .transform(
                        "gather",
                        CommittableMessageTypeInfo.of(IngestCommittableSerializer::new),
                        new GatheringOperator(target.run(), target.keys()))
                .setParallelism(1)
                .setMaxParallelism(1)
                // Flink gives the committer the parallelism of the sink. Only its first task may receive committables.
                .global();
    }

    /** Exchanges only keys, not samples. The stream has no elements, but ends after the check. */
    private DataStream<CommittableMessage<PackReport>> checkKeys(DataStream<CommittableMessage<PackReport>> reports) {
        return reports.rebalance()
                .transform("read keys", Types.TUPLE(Types.STRING, Types.LONG), new ChunkKeysOperator(target.run()))
                .keyBy(key -> key.f0, Types.STRING)
                .process(new KeyCheck(), reports.getType())
                .name("check keys");
    }

    @Override
    public Committer<IngestCommittable> createCommitter(CommitterInitContext context) {
        return new IngestCommitter(target.run(), target.keys(), Patience.ofBatchAtWork());
    }

    @Override
    public SimpleVersionedSerializer<IngestCommittable> getCommittableSerializer() {
        return new IngestCommittableSerializer();
    }

    @Override
    public SimpleVersionedSerializer<PackReport> getWriteResultSerializer() {
        return new PackReportStateSerializer();
    }
}

package dev.stoker.connectors.dataset.sink;

import dev.stoker.connectors.dataset.TopicReport;
import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.connectors.dataset.sink.committer.TopicCommittable;
import dev.stoker.connectors.dataset.sink.committer.TopicCommitter;
import dev.stoker.connectors.dataset.sink.writer.TopicSinkState;
import dev.stoker.connectors.dataset.sink.writer.TopicWriter;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.Patience;
import java.util.Collection;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.datastream.DataStream;

/** Publishes the chunks written between two checkpoints as one version. */
public final class TopicChunkSink
        implements Sink<TopicReport>,
                SupportsCommitter<TopicCommittable>,
                SupportsWriterState<TopicReport, TopicSinkState> {

    private static final long serialVersionUID = 1;

    private final TopicRun run;

    private TopicChunkSink(TopicRun run) {
        this.run = run;
    }

    /** Adds the sink to the end of a job: one writer and one committer, whatever the parallelism before them. */
    public static void addTo(DataStream<TopicReport> reports, TopicRun run) {
        reports.sinkTo(new TopicChunkSink(run)).name("commit").uid("commit").setParallelism(1);
    }

    @Override
    public SinkWriter<TopicReport> createWriter(WriterInitContext context) {
        ClassLoaderCleanup.atUnload(context.getUserCodeClassLoader());
        return TopicWriter.begin(run);
    }

    @Override
    public StatefulSinkWriter<TopicReport, TopicSinkState> restoreWriter(
            WriterInitContext context, Collection<TopicSinkState> recovered) {
        ClassLoaderCleanup.atUnload(context.getUserCodeClassLoader());
        return recovered.isEmpty()
                ? TopicWriter.begin(run)
                : new TopicWriter(run, recovered.iterator().next());
    }

    @Override
    public SimpleVersionedSerializer<TopicSinkState> getWriterStateSerializer() {
        return new TopicSinkState.Serializer();
    }

    @Override
    public Committer<TopicCommittable> createCommitter(CommitterInitContext context) {
        // The command that started the job has reached store and brokers: they are unavailable, not misconfigured.
        return new TopicCommitter(run, Patience.endlessAfterRestore());
    }

    @Override
    public SimpleVersionedSerializer<TopicCommittable> getCommittableSerializer() {
        return new TopicCommittable.Serializer();
    }
}

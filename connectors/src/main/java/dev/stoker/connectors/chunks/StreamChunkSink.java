package dev.stoker.connectors.chunks;

import dev.stoker.connectors.failure.Patience;
import dev.stoker.connectors.release.CodeRelease;
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
public final class StreamChunkSink
        implements Sink<StreamReport>,
                SupportsCommitter<StreamCommittable>,
                SupportsWriterState<StreamReport, StreamState> {

    private static final long serialVersionUID = 1;

    private final StreamRun run;

    private StreamChunkSink(StreamRun run) {
        this.run = run;
    }

    /** Adds the sink to the end of a job: one writer and one committer, whatever the parallelism before them. */
    public static void addTo(DataStream<StreamReport> reports, StreamRun run) {
        reports.sinkTo(new StreamChunkSink(run)).name("commit").uid("commit").setParallelism(1);
    }

    @Override
    public SinkWriter<StreamReport> createWriter(WriterInitContext context) {
        CodeRelease.atUnload(context.getUserCodeClassLoader());
        return StreamWriter.begin(run);
    }

    @Override
    public StatefulSinkWriter<StreamReport, StreamState> restoreWriter(
            WriterInitContext context, Collection<StreamState> recovered) {
        CodeRelease.atUnload(context.getUserCodeClassLoader());
        return recovered.isEmpty()
                ? StreamWriter.begin(run)
                : new StreamWriter(run, recovered.iterator().next());
    }

    @Override
    public SimpleVersionedSerializer<StreamState> getWriterStateSerializer() {
        return new StreamState.Serializer();
    }

    @Override
    public Committer<StreamCommittable> createCommitter(CommitterInitContext context) {
        // The command that started the job has reached store and brokers: they are unavailable, not misconfigured.
        return new StreamCommitter(run, Patience.endlessAfterRestore());
    }

    @Override
    public SimpleVersionedSerializer<StreamCommittable> getCommittableSerializer() {
        return new StreamCommittable.Serializer();
    }
}

package dev.stoker.connectors.dataset.sink;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.SampleKeys;
import dev.stoker.connectors.dataset.sink.committer.IngestCommittable;
import dev.stoker.connectors.dataset.sink.committer.IngestCommittableSerializer;
import dev.stoker.connectors.dataset.sink.committer.IngestCommitter;
import dev.stoker.connectors.dataset.sink.writer.GatheringWriter;
import dev.stoker.connectors.dataset.sink.writer.LeftOutFile;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.Patience;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.datastream.DataStream;

/** Publishes the chunks of the packing tasks as one version. */
public final class ChunkSink implements Sink<PackReport>, SupportsCommitter<IngestCommittable> {

    private static final long serialVersionUID = 1;

    private final IngestRun run;

    private ChunkSink(IngestRun run) {
        this.run = run;
    }

    /** Adds the sink to the end of a job: one writer and one committer, whatever the parallelism before them. */
    public static void addTo(DataStream<PackReport> reports, IngestRun run) {
        reports.sinkTo(new ChunkSink(run)).name("commit").uid("commit").setParallelism(1);
    }

    @Override
    public SinkWriter<PackReport> createWriter(WriterInitContext context) {
        ClassLoaderCleanup.atUnload(context.getUserCodeClassLoader());
        return new GatheringWriter(new LeftOutFile(run.store(), run.target(), run.ingest()));
    }

    @Override
    public Committer<IngestCommittable> createCommitter(CommitterInitContext context) {
        // By now the chunks represent hours of work.
        return new IngestCommitter(run, SampleKeys.GIVEN, Patience.ofBatchAtWork());
    }

    @Override
    public SimpleVersionedSerializer<IngestCommittable> getCommittableSerializer() {
        return new IngestCommittableSerializer();
    }
}

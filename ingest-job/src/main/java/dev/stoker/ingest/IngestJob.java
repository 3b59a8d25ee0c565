package dev.stoker.ingest;

import java.io.IOException;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The ingest: packs the files of a tree into chunks and commits one version. Entry point of the job jar. */
public final class IngestJob {

    private IngestJob() {}

    /** Runs on the cluster that {@code flink run} submits to. */
    public static void main(String[] args) throws Exception {
        throw new UnsupportedOperationException("not there yet");
    }

    /** An environment that runs the job in this process. */
    public static StreamExecutionEnvironment embedded(IngestOptions options) {
        throw new UnsupportedOperationException("not there yet");
    }

    /**
     * Looks at the source and says what would be done; writes nothing.
     *
     * @throws InvalidIngestException if it cannot be done
     */
    public static IngestPlan plan(IngestOptions options) throws IOException {
        throw new UnsupportedOperationException("not there yet");
    }

    /**
     * Runs an ingest until its version is committed. An interrupted thread cancels the job.
     *
     * @throws InvalidIngestException if it cannot be started as asked
     * @throws IngestFailedException if it has not committed a version; nothing is visible then
     */
    public static IngestResult run(IngestOptions options, StreamExecutionEnvironment env, IngestListener listener)
            throws IOException, InterruptedException {
        throw new UnsupportedOperationException("not there yet");
    }
}

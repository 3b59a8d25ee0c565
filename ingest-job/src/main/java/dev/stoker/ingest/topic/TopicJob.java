package dev.stoker.ingest.topic;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The place where an ingest of a topic runs: this process, or a cluster. For one thread. */
public interface TopicJob extends AutoCloseable {

    /** The environment in which to build the job. */
    StreamExecutionEnvironment environment();

    /**
     * Starts the job that was built.
     *
     * @return completed when the job has ended, exceptionally if it failed
     * @throws Exception if it cannot be started
     */
    CompletableFuture<?> start(String name) throws Exception;

    /** Requests a checkpoint soon, if possible; a missed one does no harm. */
    void checkpoint();

    /**
     * Stops the job cleanly, with a last checkpoint whose version is committed.
     *
     * @return completed exceptionally if the job cannot be stopped now; the job then continues
     */
    CompletableFuture<?> stop();

    /** Ends the job immediately. */
    void cancel();

    @Override
    void close() throws IOException;
}

package dev.stoker.ingest.stream;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Where an ingest of a topic runs: in this process, or on a cluster. For one thread. */
public interface StreamJob extends AutoCloseable {

    /** The environment that the job is built in. */
    StreamExecutionEnvironment environment();

    /**
     * Starts what was built.
     *
     * @return completed when the job has ended, exceptionally if it failed
     * @throws Exception if it cannot be started
     */
    CompletableFuture<?> start(String name) throws Exception;

    /** Asks for a checkpoint soon, where that is possible; one that is not taken does no harm. */
    void checkpoint();

    /**
     * Asks for an end in good order: a last checkpoint, whose version is committed.
     *
     * @return completed exceptionally if the job cannot be stopped now; it then goes on
     */
    CompletableFuture<?> stop();

    /** Ends the job at once. */
    void cancel();

    @Override
    void close() throws IOException;
}

package dev.stoker.ingest.topic;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/** The job on the cluster that {@code flink run} submits to. For one thread. */
public final class SubmittedTopicJob implements TopicJob {

    private final StreamExecutionEnvironment env;
    private @Nullable JobClient client;

    /** @param env of the cluster */
    public SubmittedTopicJob(StreamExecutionEnvironment env) {
        this.env = env;
    }

    @Override
    public StreamExecutionEnvironment environment() {
        return env;
    }

    /** Whether no client waits for its end: {@code flink run -d}, or a submission over REST. */
    public boolean isDetached() {
        return !env.getConfiguration().get(DeploymentOptions.ATTACHED);
    }

    /** Starts the job that was built and leaves it to its cluster. */
    public void submit(String name) throws Exception {
        env.executeAsync(name);
    }

    @Override
    public CompletableFuture<?> start(String name) throws Exception {
        client = env.executeAsync(name);
        return client.getJobExecutionResult();
    }

    /** A cluster's client cannot request one; the next one follows after the interval. */
    @Override
    public void checkpoint() {}

    @Override
    public CompletableFuture<?> stop() {
        return Objects.requireNonNull(client, "the job was started")
                .stopWithSavepoint(false, null, SavepointFormatType.CANONICAL);
    }

    @Override
    public void cancel() {
        if (client != null) {
            CompletableFuture<?> unused = client.cancel();
        }
    }

    @Override
    public void close() {}
}

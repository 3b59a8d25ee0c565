package dev.stoker.ingest.topic;

import dev.stoker.flink.embedded.EmbeddedFlink;
import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/**
 * The job in this process. Its checkpoints serve only failures of tasks and end with the process; the dataset has the
 * position. For one thread.
 */
public final class EmbeddedTopicJob implements TopicJob {

    private static final int END_SECONDS = 30;

    private final Path scratch;
    private final StreamExecutionEnvironment env;
    private final MiniCluster cluster;
    private final Ownership ownership;
    private @Nullable JobID job;
    private CompletableFuture<?> asked = CompletableFuture.completedFuture(null);

    /** Determines who ends the cluster. */
    enum Ownership {
        OWN,
        SHARED
    }

    /**
     * @param scratch directory that is deleted with the job
     * @param ownership whether the cluster also ends with the job
     */
    EmbeddedTopicJob(Path scratch, StreamExecutionEnvironment env, MiniCluster cluster, Ownership ownership) {
        this.scratch = scratch;
        this.env = env;
        this.cluster = cluster;
        this.ownership = ownership;
    }

    /**
     * Opens a cluster in this process.
     *
     * @param wanted subtasks; by default one for each processor
     */
    public static EmbeddedTopicJob open(OptionalInt wanted) throws Exception {
        int parallelism = wanted.orElse(Runtime.getRuntime().availableProcessors());
        // The present value of the property: the command has a temporary directory that is cleaned up after a kill.
        Path scratch =
                PrivateFiles.createTempDirectory(Path.of(System.getProperty("java.io.tmpdir")), "stoker-stream-");
        Configuration conf = new Configuration();
        conf.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(8));
        conf.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(8));
        conf.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(8));
        conf.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
        conf.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                scratch.resolve("checkpoints").toUri().toString());
        MiniCluster cluster;
        try {
            cluster = EmbeddedFlink.start(parallelism, conf);
        } catch (Exception e) {
            PrivateFiles.delete(scratch);
            throw e;
        }
        return new EmbeddedTopicJob(scratch, EmbeddedFlink.environment(parallelism, conf), cluster, Ownership.OWN);
    }

    @Override
    public StreamExecutionEnvironment environment() {
        return env;
    }

    @Override
    public CompletableFuture<?> start(String name) throws Exception {
        JobGraph graph = env.getStreamGraph().getJobGraph();
        job = graph.getJobID();
        cluster.submitJob(graph).get();
        return cluster.requestJobResult(job).thenAccept(EmbeddedTopicJob::requireDone);
    }

    private static void requireDone(JobResult result) {
        result.getSerializedThrowable().ifPresent(failure -> {
            throw new java.util.concurrent.CompletionException(
                    failure.deserializeError(EmbeddedTopicJob.class.getClassLoader()));
        });
    }

    @Override
    public void checkpoint() {
        if (asked.isDone()) {
            asked = cluster.triggerCheckpoint(job).handle((path, failure) -> null);
        }
    }

    @Override
    public CompletableFuture<?> stop() {
        return cluster.stopWithSavepoint(
                job, scratch.resolve("stopped").toUri().toString(), false, SavepointFormatType.CANONICAL);
    }

    @Override
    public void cancel() {
        if (job != null) {
            CompletableFuture<?> unused = cluster.cancelJob(job);
        }
    }

    @Override
    public void close() throws IOException {
        try {
            if (ownership == Ownership.OWN) {
                cluster.closeAsync().get(END_SECONDS, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the job was ending");
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("the job did not end cleanly", e);
        } finally {
            PrivateFiles.delete(scratch);
        }
    }
}

package dev.stoker.flink.launch;

import dev.stoker.flink.embedded.EmbeddedFlink;
import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Launches a job on a cluster in this process that the launcher holds itself, so that a checkpoint can be requested at
 * any time. Checkpoints serve only failures of tasks and end with the process. For one thread.
 */
public final class ClusterLauncher implements JobLauncher {

    private static final int END_SECONDS = 30;

    private final Path scratch;
    private final StreamExecutionEnvironment env;
    private final MiniCluster cluster;
    private final Ownership ownership;

    /** Determines who ends the cluster. */
    public enum Ownership {
        OWN,
        SHARED
    }

    /**
     * Launches on a cluster that exists.
     *
     * @param scratch directory for checkpoints, which is deleted with the launcher
     * @param env in which the job is built
     * @param ownership whether the cluster also ends with the launcher
     */
    public ClusterLauncher(Path scratch, StreamExecutionEnvironment env, MiniCluster cluster, Ownership ownership) {
        this.scratch = scratch;
        this.env = env;
        this.cluster = cluster;
        this.ownership = ownership;
    }

    /**
     * Opens a cluster in this process.
     *
     * @param parallelism the number of subtasks, and of slots of the cluster
     * @param settings further settings of Flink
     */
    public static ClusterLauncher open(int parallelism, Configuration settings) throws Exception {
        // The present value of the property: the command has a temporary directory that is cleaned up after a kill.
        Path scratch =
                PrivateFiles.createTempDirectory(Path.of(System.getProperty("java.io.tmpdir")), "stoker-stream-");
        Configuration all = new Configuration(settings);
        all.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
        all.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                scratch.resolve("checkpoints").toUri().toString());
        MiniCluster cluster;
        try {
            cluster = EmbeddedFlink.start(parallelism, all);
        } catch (Exception e) {
            PrivateFiles.delete(scratch);
            throw e;
        }
        return new ClusterLauncher(scratch, EmbeddedFlink.environment(parallelism, all), cluster, Ownership.OWN);
    }

    @Override
    public StreamExecutionEnvironment environment() {
        return env;
    }

    @Override
    public Mode mode() {
        return Mode.EMBEDDED;
    }

    @Override
    public RunningJob launch(String name) throws Exception {
        JobGraph graph = env.getStreamGraph().getJobGraph();
        cluster.submitJob(graph).get();
        return new Job(graph.getJobID());
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

    /** The job on this launcher's cluster. */
    private final class Job implements RunningJob {

        private final JobID id;
        private final CompletableFuture<?> end;
        private CompletableFuture<?> asked = CompletableFuture.completedFuture(null);

        Job(JobID id) {
            this.id = id;
            end = cluster.requestJobResult(id).thenAccept(Job::requireDone);
        }

        private static void requireDone(JobResult result) {
            result.getSerializedThrowable().ifPresent(failure -> {
                throw new CompletionException(failure.deserializeError(ClusterLauncher.class.getClassLoader()));
            });
        }

        @Override
        public CompletableFuture<?> end() {
            return end;
        }

        @Override
        public void checkpoint() {
            if (asked.isDone()) {
                asked = cluster.triggerCheckpoint(id).handle((path, failure) -> null);
            }
        }

        @Override
        public CompletableFuture<?> stop() {
            return cluster.stopWithSavepoint(
                    id, scratch.resolve("stopped").toUri().toString(), false, SavepointFormatType.CANONICAL);
        }

        @Override
        public CompletableFuture<?> cancel() {
            return cluster.cancelJob(id);
        }

        @Override
        public boolean isOver() {
            return end.isDone();
        }
    }
}

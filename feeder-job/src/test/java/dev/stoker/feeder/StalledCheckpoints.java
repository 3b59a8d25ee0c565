package dev.stoker.feeder;

import dev.stoker.server.Waiting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Predicate;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Checkpoints whose file system hangs for longer than a checkpoint may take. */
public final class StalledCheckpoints {

    /** Where a checkpoint stalls. */
    public enum Stall {
        /** The JobManager begins a checkpoint. */
        BEGIN(path -> path.getName().startsWith("chk-")),
        /** A task writes its state. */
        STATE(path ->
                path.getParent().getName().startsWith("chk-") && !path.getName().equals("_metadata")),
        /** The JobManager completes a checkpoint. */
        END(path -> path.getName().equals("_metadata"));

        @SuppressWarnings("ImmutableEnumChecker") // The lambdas have no state.
        private final Predicate<org.apache.flink.core.fs.Path> paths;

        Stall(Predicate<org.apache.flink.core.fs.Path> paths) {
            this.paths = paths;
        }
    }

    private StalledCheckpoints() {}

    /** Returns an environment with checkpoints that may stall and may take half a second. */
    public static StreamExecutionEnvironment environment(Path checkpoints) {
        Configuration settings = new Configuration();
        settings.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, "stalling://" + checkpoints);
        // Tasks write their state to files, however small it is.
        settings.set(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD, MemorySize.ZERO);
        settings.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, Duration.ofMillis(500));
        return StreamExecutionEnvironment.getExecutionEnvironment(settings);
    }

    /** Has checkpoints stall. */
    public static void begin(Stall stall) {
        StallingFileSystem.stall(stall.paths);
    }

    /** Ends the stall. */
    public static void end() {
        StallingFileSystem.stall(path -> false);
    }

    /** Waits until checkpoints hang. Checkpoints that hang in a task must then have failed twice. */
    public static void await(Stall stall, MiniCluster cluster, JobClient job) {
        Waiting.until(() -> StallingFileSystem.hanging() > 0);
        if (stall == Stall.STATE) {
            long before = failed(cluster, job);
            Waiting.until(() -> failed(cluster, job) >= before + 2);
        }
    }

    private static long failed(MiniCluster cluster, JobClient job) {
        try {
            return cluster.getExecutionGraph(job.getJobID())
                    .get()
                    .getCheckpointStatsSnapshot()
                    .getCounts()
                    .getNumberOfFailedCheckpoints();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}

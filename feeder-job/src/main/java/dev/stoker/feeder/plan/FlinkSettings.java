package dev.stoker.feeder.plan;

import dev.stoker.flink.embedded.EmbeddedFlink;
import dev.stoker.flink.failure.RestartLimit;
import dev.stoker.flink.launch.JobLauncher;
import java.time.Duration;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Flink's settings of every feed, over sockets and to a topic. */
public final class FlinkSettings {
    private static final Duration STALLED_CHECKPOINT = Duration.ofMinutes(1);

    private FlinkSettings() {}

    /** Returns a launcher that runs a feed in this process, with the little memory that a feed needs of Flink. */
    public static JobLauncher embedded(FeedPlan plan) {
        Configuration settings = new Configuration();
        settings.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(8));
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(8));
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(8));
        return JobLauncher.embedded(EmbeddedFlink.environment(plan.parallelism(1), settings));
    }

    /**
     * Applies the settings to an environment.
     *
     * @param env the environment
     * @param checkpointInterval time between checkpoints
     * @param parallelism feeder subtasks
     */
    public static void apply(StreamExecutionEnvironment env, Duration checkpointInterval, int parallelism) {
        env.configure(settings(checkpointInterval));
        RestartLimit.set(env);
        limitStalledCheckpoints(env, checkpointInterval);
        env.setParallelism(parallelism);
        env.setMaxParallelism(Math.max(128, parallelism));
    }

    /**
     * Ends a stalled checkpoint after a minute, unless the environment has a timeout. Flink 2.3 never completes the
     * events that a coordinator sent to a task which failed during a checkpoint. The next checkpoint waits for these
     * events until its timeout, and until then no receipt becomes durable and no feed ends. Flink's own timeout is ten
     * minutes.
     */
    private static void limitStalledCheckpoints(StreamExecutionEnvironment env, Duration checkpointInterval) {
        if (env.getConfiguration()
                .getOptional(CheckpointingOptions.CHECKPOINTING_TIMEOUT)
                .isEmpty()) {
            Duration twice = checkpointInterval.multipliedBy(2);
            env.getCheckpointConfig().setCheckpointTimeout(Math.max(STALLED_CHECKPOINT.toMillis(), twice.toMillis()));
        }
    }

    private static Configuration settings(Duration checkpointInterval) {
        Configuration settings = new Configuration();
        settings.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.STREAMING);
        settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, checkpointInterval);
        settings.set(CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE, CheckpointingMode.EXACTLY_ONCE);
        settings.set(CheckpointingOptions.ENABLE_UNALIGNED, false);
        // The adaptive scheduler restarts the whole job when one task fails.
        settings.set(JobManagerOptions.SCHEDULER, JobManagerOptions.SchedulerType.Default);
        return settings;
    }
}

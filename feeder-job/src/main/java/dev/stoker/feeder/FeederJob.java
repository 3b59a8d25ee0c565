package dev.stoker.feeder;

import dev.stoker.connectors.failure.RestartLimit;
import dev.stoker.feeder.kafka.KafkaArguments;
import dev.stoker.feeder.kafka.KafkaJob;
import dev.stoker.feeder.ledger.LedgerSink;
import dev.stoker.feeder.source.LaneSource;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Entry point of the feeder job jar, and the job graph: lanes, forward-connected to the ledger, so that every subtask
 * is its own failover region.
 */
public final class FeederJob {
    private static final Duration STALLED_CHECKPOINT = Duration.ofMinutes(1);

    private FeederJob() {}

    /**
     * Submits the feed to the Flink cluster that {@code flink run} talks to.
     *
     * @param args the options of {@link FeederOptions} and one or more streams
     */
    public static void main(String[] args) throws Exception {
        if (KafkaArguments.wanted(args)) {
            toTopic(KafkaArguments.parse(args));
            return;
        }
        FeederArguments arguments = FeederArguments.parse(args);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        build(env, arguments.plan(), arguments.checkpointInterval(), arguments.parallelism(env.getParallelism()));
        warnOfOtherJobs(env);
        SortedChunks.warnings(arguments.plan()).forEach(warning -> System.err.println("stoker: warning: " + warning));
        env.execute("stoker feed " + arguments.plan().name());
    }

    private static void toTopic(KafkaArguments arguments) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        KafkaJob.build(
                env,
                arguments.plan(),
                arguments.feed().checkpointInterval(),
                arguments.feed().parallelism(env.getParallelism()));
        KafkaJob.describe(arguments).forEach(System.out::println);
        warnOfOtherJobs(env);
        env.execute("stoker feed " + arguments.feed().plan().name());
    }

    private static void warnOfOtherJobs(StreamExecutionEnvironment env) {
        Map<String, String> settings = ((Configuration) env.getConfiguration()).toMap();
        SharedCluster.warning(Configuration.fromMap(settings)).ifPresent(System.err::println);
    }

    /**
     * Adds the feed to an environment.
     *
     * @param env the environment
     * @param plan the feed
     * @param checkpointInterval time between checkpoints
     * @param parallelism feeder subtasks, at most the lanes of the feed
     */
    public static void build(
            StreamExecutionEnvironment env, FeedPlan plan, Duration checkpointInterval, int parallelism)
            throws IOException {
        env.configure(settings(checkpointInterval));
        RestartLimit.set(env);
        limitStalledCheckpoints(env, checkpointInterval);
        env.setParallelism(parallelism);
        env.setMaxParallelism(Math.max(128, parallelism));
        env.fromSource(
                        new LaneSource(plan),
                        WatermarkStrategy.noWatermarks(),
                        "lanes",
                        PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO)
                .uid("lanes")
                .sinkTo(new LedgerSink(plan.ledger(), plan.id()))
                .name("ledger")
                .uid("ledger");
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

    /** Flink's settings of every feed. */
    public static Configuration settings(Duration checkpointInterval) {
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

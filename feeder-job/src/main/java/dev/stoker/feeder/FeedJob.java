package dev.stoker.feeder;

import dev.stoker.feeder.ledger.LedgerSink;
import dev.stoker.feeder.plan.FeedFlags;
import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.plan.FlinkSettings;
import dev.stoker.feeder.source.LaneSource;
import dev.stoker.feeder.topic.TopicFeedGraph;
import dev.stoker.feeder.topic.TopicFeedOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Entry point of the feeder job jar, and the job graph: lanes, forward-connected to the ledger, so that every subtask
 * is its own failover region.
 */
public final class FeedJob {
    private FeedJob() {}

    /**
     * Submits the feed to the Flink cluster that {@code flink run} talks to.
     *
     * @param args the options of {@link FeedFlags} and one or more streams
     */
    public static void main(String[] args) throws Exception {
        if (TopicFeedOptions.wanted(args)) {
            toTopic(TopicFeedOptions.parse(args));
            return;
        }
        FeedOptions arguments = FeedOptions.parse(args);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        build(env, arguments.plan(), arguments.checkpointInterval(), arguments.parallelism(env.getParallelism()));
        warnOfOtherJobs(env);
        SortedChunks.warnings(arguments.plan()).forEach(warning -> System.err.println("stoker: warning: " + warning));
        env.execute("stoker feed " + arguments.plan().name());
    }

    private static void toTopic(TopicFeedOptions arguments) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        TopicFeedGraph.build(
                env,
                arguments.plan(),
                arguments.feed().checkpointInterval(),
                arguments.feed().parallelism(env.getParallelism()));
        TopicFeedGraph.describe(arguments).forEach(System.out::println);
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
        FlinkSettings.apply(env, checkpointInterval, parallelism);
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
}

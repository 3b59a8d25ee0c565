package dev.stoker.feeder;

import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.topic.TopicFeedJob;
import dev.stoker.feeder.topic.TopicFeedOptions;
import dev.stoker.feeder.topic.TopicFeedPlan;
import dev.stoker.flink.embedded.EmbeddedFlink;
import dev.stoker.flink.launch.JobLauncher;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Launches feeds, over sockets and to topics. Entry point of the job jar. */
public final class FeedJob {

    private FeedJob() {}

    /**
     * Submits the feed to the Flink cluster that {@code flink run} talks to.
     *
     * @param args the options of {@link dev.stoker.feeder.plan.FeedFlags} and one or more streams
     */
    public static void main(String[] args) throws Exception {
        try (JobLauncher launcher = JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment())) {
            StreamExecutionEnvironment env = launcher.environment();
            FeedPlan plan;
            if (TopicFeedOptions.wanted(args)) {
                TopicFeedPlan topic = TopicFeedPlan.of(TopicFeedOptions.parse(args));
                plan = topic.feed();
                TopicFeedJob.build(env, topic);
                topic.lines().forEach(System.out::println);
                warnOfOtherJobs(env);
            } else {
                plan = FeedPlan.of(FeedOptions.parse(args));
                new FeedGraph(plan).addTo(env);
                warnOfOtherJobs(env);
                SortedChunks.warnings(plan).forEach(warning -> System.err.println("stoker: warning: " + warning));
            }
            launcher.run(name(plan));
        }
    }

    /** Returns the name of a feed's job. */
    public static String name(FeedPlan plan) {
        return "stoker feed " + plan.name();
    }

    /** Returns a launcher that runs a feed in this process, with the little memory that a feed needs of Flink. */
    public static JobLauncher embedded(FeedPlan plan) {
        Configuration settings = new Configuration();
        settings.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(8));
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(8));
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(8));
        return JobLauncher.embedded(EmbeddedFlink.environment(plan.parallelism(1), settings));
    }

    private static void warnOfOtherJobs(StreamExecutionEnvironment env) {
        Map<String, String> settings = ((Configuration) env.getConfiguration()).toMap();
        SharedCluster.warning(Configuration.fromMap(settings)).ifPresent(System.err::println);
    }
}

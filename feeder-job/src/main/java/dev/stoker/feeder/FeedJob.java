package dev.stoker.feeder;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.plan.FlinkSettings;
import dev.stoker.feeder.plan.StartWarnings;
import dev.stoker.feeder.registry.FeedLock;
import dev.stoker.feeder.topic.TopicFeedJob;
import dev.stoker.feeder.topic.TopicFeedOptions;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.flink.launch.JobMain;
import dev.stoker.flink.launch.RunningJob;
import dev.stoker.flink.launch.SharedCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The feed: serves batches to trainers that connect. Entry point of the job jar. */
public final class FeedJob {

    private FeedJob() {}

    /**
     * Runs on the cluster that {@code flink run} submits to.
     *
     * @param args the options of {@link dev.stoker.feeder.plan.FeedFlags} and one or more streams
     */
    public static void main(String[] args) throws Exception {
        JobMain.run(() -> submit(args));
    }

    private static void submit(String[] args) throws Exception {
        if (TopicFeedOptions.wanted(args)) {
            TopicFeedJob.main(args);
            return;
        }
        FeedPlan plan = FeedPlan.of(TopicFeedOptions.parseServed(args));
        try (JobLauncher launcher = JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment())) {
            if (SharedCluster.isRemote(launcher.environment())) {
                FeedLock.requireFree(plan.name());
            }
            new FeedGraph(plan).addTo(launcher.environment());
            SharedCluster.warning(launcher.environment()).ifPresent(System.err::println);
            StartWarnings.ofTrainers(plan).forEach(warning -> System.err.println("stoker: warning: " + warning));
            launcher.run(name(plan));
        }
    }

    /** Launches the feed in this process. */
    public static RunningJob embedded(FeedPlan plan) throws Exception {
        JobLauncher launcher = FlinkSettings.embedded(plan);
        new FeedGraph(plan).addTo(launcher.environment());
        return launcher.launch(name(plan));
    }

    private static String name(FeedPlan plan) {
        return "stoker feed " + plan.name();
    }
}

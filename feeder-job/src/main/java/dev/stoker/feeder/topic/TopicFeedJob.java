package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.connectors.kafka.TopicRecord;
import dev.stoker.connectors.kafka.registry.SchemaRegistry;
import dev.stoker.connectors.kafka.topic.TopicCheck;
import dev.stoker.connectors.kafka.topic.TopicNeeds;
import dev.stoker.feeder.plan.FlinkSettings;
import dev.stoker.feeder.plan.StartWarnings;
import dev.stoker.feeder.registry.FeedLock;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.flink.launch.JobMain;
import dev.stoker.flink.launch.RunningJob;
import dev.stoker.flink.launch.SharedCluster;
import dev.stoker.schemas.kafka.SampleSchema;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.server.StreamContent;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The feed to a topic: writes the batches of a stream to Kafka. */
public final class TopicFeedJob {
    /** Room for partitions that take more than their share because lanes are uneven, and for headers. */
    private static final double UNEVEN = 1.25;

    private TopicFeedJob() {}

    /** Runs on the cluster that {@code flink run} submits to; entry point of the job jar for topics. */
    public static void main(String... args) throws Exception {
        JobMain.run(() -> submit(args));
    }

    private static void submit(String... args) throws Exception {
        TopicFeedPlan plan = TopicFeedPlan.of(TopicFeedOptions.parse(args));
        try (JobLauncher launcher = JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment())) {
            if (SharedCluster.isRemote(launcher.environment())) {
                FeedLock.requireFree(plan.feed().name());
            }
            build(launcher.environment(), plan);
            plan.lines().forEach(System.out::println);
            SharedCluster.warning(launcher.environment()).ifPresent(System.err::println);
            warnings(plan).forEach(warning -> System.err.println("stoker: warning: " + warning));
            launcher.run(name(plan));
        }
    }

    /**
     * Prepares the topic and launches the feed in this process.
     *
     * @throws IOException if the topic or the brokers are not configured as required; the message names what to change
     */
    public static RunningJob embedded(TopicFeedPlan plan) throws Exception {
        JobLauncher launcher = FlinkSettings.embedded(plan.feed());
        build(launcher.environment(), plan);
        return launcher.launch(name(plan));
    }

    /** Returns a warning for each stream that the order hardly shuffles. */
    public static List<String> warnings(TopicFeedPlan plan) {
        return StartWarnings.ofTopic(plan.feed());
    }

    private static String name(TopicFeedPlan plan) {
        return "stoker feed " + plan.feed().name();
    }

    /**
     * Creates or checks the topic and adds the feed to an environment.
     *
     * @throws IOException if the topic or the brokers are not configured as required; the message names what to change
     */
    static void build(StreamExecutionEnvironment env, TopicFeedPlan plan) throws IOException {
        build(env, plan, UnaryOperator.identity());
    }

    /** Adds the feed to an environment, with another sink around the topic's sink. */
    static void build(StreamExecutionEnvironment env, TopicFeedPlan plan, UnaryOperator<Sink<TopicRecord>> around)
            throws IOException {
        prepare(plan).addTo(env, around);
    }

    private static TopicFeedPlan registered(TopicFeedPlan plan) throws IOException {
        if (plan.values().registry() == null) {
            return plan;
        }
        try (StreamContent content =
                StreamContent.open(plan.feed().spec(), plan.feed().serverOptions())) {
            String schema = SampleSchema.of(content.order().stream().fields());
            return plan.withSchema(SchemaRegistry.register(
                    plan.values().registry(), plan.target().topic() + "-value", schema));
        }
    }

    /** Refuses transactions that the brokers abort before a checkpoint commits them. */
    static void requireTransactions(TopicFeedPlan plan) throws TopicException {
        long interval = plan.feed().checkpointInterval().toMillis();
        long timeout = plan.target().transactionTimeoutMs();
        if (plan.target().exactlyOnce() && timeout <= 2 * interval) {
            throw new TopicException("the brokers abort transactions after " + timeout
                    + " ms, but a checkpoint commits them only every " + interval
                    + " ms: give a longer time, such as --transaction-timeout " + 3 * interval
                    + "ms, or a shorter one, such as --checkpoint-interval " + timeout / 3 + "ms");
        }
    }

    /** Creates or checks the topic, and registers the schema of its records. */
    private static TopicFeedGraph prepare(TopicFeedPlan plan) throws IOException {
        requireTransactions(plan);
        try (StreamContent content =
                        StreamContent.open(plan.feed().spec(), plan.feed().serverOptions());
                TopicChoices choices = TopicChoices.open(plan.feed(), plan.target())) {
            TopicInfos.of(plan, plan.follows() ? content.order(choices.first()) : content.order());
            String fingerprint = content.order().fingerprint().text();
            StreamChunks chunks = content.order().stream().chunks();
            long bytes = 0;
            for (int i = 0; i < chunks.size(); i++) {
                bytes += chunks.isLive(i) ? chunks.length(i) : 0;
            }
            long share = (long) (UNEVEN * bytes / plan.lanes());
            TopicNeeds needs =
                    new TopicNeeds(plan.lanes(), share, Duration.ofMillis(plan.epochTimeMs()), plan.replication());
            if (plan.follows()) {
                // Before the topic is created, because its partitions are the lanes of the first version.
                choices.begin();
            }
            String topicId;
            try (TopicCheck topic = new TopicCheck(plan.target())) {
                topicId = topic.ensure(needs);
            }
            // Check here already for records of another feed, because the user reads this message.
            TopicFeedStart.fresh(plan, plan.follows() ? choices : TopicFeedStart.pinned(plan.target(), fingerprint));
            return new TopicFeedGraph(registered(plan), fingerprint, topicId);
        }
    }
}

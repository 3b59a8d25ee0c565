package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.connectors.kafka.TopicRecord;
import dev.stoker.connectors.kafka.TopicRecordSerializer;
import dev.stoker.connectors.kafka.registry.SchemaRegistry;
import dev.stoker.connectors.kafka.sink.KafkaSinks;
import dev.stoker.connectors.kafka.topic.TopicCheck;
import dev.stoker.connectors.kafka.topic.TopicNeeds;
import dev.stoker.feeder.plan.FlinkSettings;
import dev.stoker.schemas.kafka.SampleSchema;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.text.Units;
import dev.stoker.server.StreamContent;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Builds the job graph of a feed to a topic: lanes that are forward-connected to Kafka's sink. */
public final class TopicFeedGraph {
    /** Room for partitions that take more than their share because lanes are uneven, and for headers. */
    private static final double UNEVEN = 1.25;

    private TopicFeedGraph() {}

    /**
     * Creates or checks the topic and adds the feed to an environment.
     *
     * @throws IOException if the topic or the brokers are not configured as required; the message names what to change
     */
    public static void build(
            StreamExecutionEnvironment env, TopicFeedPlan plan, Duration checkpointInterval, int parallelism)
            throws IOException {
        build(env, plan, checkpointInterval, parallelism, UnaryOperator.identity());
    }

    /** Adds the feed to an environment, with another sink around the topic's sink. */
    static void build(
            StreamExecutionEnvironment env,
            TopicFeedPlan plan,
            Duration checkpointInterval,
            int parallelism,
            UnaryOperator<Sink<TopicRecord>> around)
            throws IOException {
        KafkaLaneSource source = prepare(plan, checkpointInterval);
        FlinkSettings.apply(env, checkpointInterval, parallelism);
        // A task's transactions must be committed or aborted before its lanes read the end of the topic.
        env.configure(new Configuration().set(PipelineOptions.OPERATOR_CHAINING, true));
        // Records are large and never modified.
        env.getConfig().enableObjectReuse();
        env.fromSource(source, WatermarkStrategy.noWatermarks(), "lanes", TopicRecordSerializer.TYPE)
                .uid("kafka-lanes")
                .sinkTo(around.apply(
                        KafkaSinks.create(plan.target(), "stoker-" + plan.feed().id())))
                .name("topic " + plan.target().topic())
                .uid("kafka-topic");
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

    private static KafkaLaneSource prepare(TopicFeedPlan plan, Duration checkpointInterval) throws IOException {
        if (plan.target().exactlyOnce() && plan.target().transactionTimeoutMs() <= 2 * checkpointInterval.toMillis()) {
            throw new TopicException(
                    "the brokers abort transactions after " + plan.target().transactionTimeoutMs()
                            + " ms, but a checkpoint commits them only every " + checkpointInterval.toMillis()
                            + " ms: give a longer --transaction-timeout or a shorter --checkpoint-interval");
        }
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
            TopicStart.fresh(plan, plan.follows() ? choices : TopicStart.pinned(plan.target(), fingerprint));
            return new KafkaLaneSource(registered(plan), fingerprint, topicId);
        }
    }

    /** Returns the lines that the command prints when a feed starts. */
    public static List<String> describe(TopicFeedOptions arguments) {
        TopicFeedPlan plan = arguments.plan();
        List<String> lines = new ArrayList<>();
        lines.add("writing to " + plan.target() + ": " + Units.plural(plan.lanes(), "partition") + " for "
                + Units.plural(plan.worldSize(), "rank") + ", "
                + (plan.target().exactlyOnce() ? "exactly once" : "at least once"));
        if (arguments.readAmplification() > 1) {
            lines.add("ranks read each other's partitions: " + arguments.readAmplification()
                    + " times what they need, together");
        }
        return lines;
    }
}

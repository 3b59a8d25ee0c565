package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.TopicRecord;
import dev.stoker.connectors.kafka.TopicRecordSerializer;
import dev.stoker.connectors.kafka.sink.KafkaSinks;
import dev.stoker.feeder.plan.FlinkSettings;
import java.io.IOException;
import java.util.function.UnaryOperator;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The graph of a feed to a topic: lanes, forward-connected to Kafka's sink. Building it reads only the file with
 * the settings of the Kafka clients.
 *
 * @param plan the feed, whose topic exists
 * @param fingerprint fingerprint of the feed, if all epochs have the same
 * @param topicId id of the topic
 */
record TopicFeedGraph(TopicFeedPlan plan, String fingerprint, String topicId) {

    /**
     * Adds the feed to an environment, and sets what it requires of Flink.
     *
     * @param around makes the sink from the topic's sink
     * @throws IOException if the clients' settings cannot be read or are invalid
     */
    void addTo(StreamExecutionEnvironment env, UnaryOperator<Sink<TopicRecord>> around) throws IOException {
        FlinkSettings.apply(env, plan.feed().checkpointInterval(), plan.feed().parallelism(env.getParallelism()));
        // A task's transactions must be committed or aborted before its lanes read the end of the topic.
        env.configure(new Configuration().set(PipelineOptions.OPERATOR_CHAINING, true));
        // Records are large and never modified.
        env.getConfig().enableObjectReuse();
        env.fromSource(
                        new KafkaLaneSource(plan, fingerprint, topicId),
                        WatermarkStrategy.noWatermarks(),
                        "lanes",
                        TopicRecordSerializer.TYPE)
                .uid("kafka-lanes")
                .sinkTo(around.apply(
                        KafkaSinks.create(plan.target(), "stoker-" + plan.feed().id())))
                .name("topic " + plan.target().topic())
                .uid("kafka-topic");
    }
}

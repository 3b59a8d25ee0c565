package dev.stoker.feeder.topic;

import dev.stoker.feeder.plan.FeedFlags;
import dev.stoker.feeder.plan.FeedKind;
import dev.stoker.flink.arguments.JobOption;
import dev.stoker.flink.arguments.OptionHeading;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.MemorySize;

/** The options of a feed to a topic, beside those of every feed. */
public final class TopicFeedFlags {

    private static final OptionHeading TARGET =
            new OptionHeading(FeedFlags.PREFIX, "Batches to a Kafka topic (--to kafka)", FeedKind.KAFKA);

    public static final JobOption<String> TO = TARGET.choice("to", "trainers", "kafka")
            .defaultValue("trainers")
            .of(FeedKind.TRAINERS, FeedKind.KAFKA)
            .withDescription("Target of the batches: trainers, which connect to the feeder, or kafka.");

    public static final JobOption<String> BOOTSTRAP =
            TARGET.text("bootstrap", "HOST:PORT,…").withDescription("Kafka brokers as host:port,…");

    public static final JobOption<String> TOPIC = TARGET.text("topic", "TOPIC")
            .withDescription("Topic to write to. The feed creates it if it does not exist.");

    public static final JobOption<String> KAFKA_CONFIG = TARGET.text("kafka-config", "FILE")
            .withDescription("File with settings of the Kafka clients, such as security.protocol. It must exist on"
                    + " every machine.");

    public static final JobOption<Integer> WORLD_SIZE = TARGET.number("world-size")
            .atLeast(1, "is not positive")
            .withDescription("Number of ranks that will read the topic. Each rank reads its own partitions.");

    public static final JobOption<Boolean> ALLOW_READ_AMPLIFICATION = TARGET.flag("allow-read-amplification")
            .withDescription("Accept an order with which ranks must also read partitions of other ranks.");

    public static final JobOption<String> DELIVERY = TARGET.choice("delivery", "at-least-once", "exactly-once")
            .defaultValue("at-least-once")
            .withDescription("at-least-once or exactly-once. With at-least-once, a restart can write records again;"
                    + " Stoker's clients discard duplicates.");

    public static final JobOption<Duration> TRANSACTION_TIMEOUT = TARGET.time("transaction-timeout")
            .defaultValue(Duration.ofMinutes(15))
            .withDescription("With exactly-once: time after which brokers abort a transaction that no checkpoint has"
                    + " committed.");

    private static final OptionHeading RECORDS =
            new OptionHeading(FeedFlags.PREFIX, "Records of the topic", FeedKind.KAFKA);

    public static final JobOption<String> VALUE_FORMAT = RECORDS.choice("value-format", "arrow", "avro")
            .defaultValue("arrow")
            .withDescription("Content of a record: arrow, a batch or a part of a batch, or avro, one sample.");

    public static final JobOption<String> SCHEMA_REGISTRY = RECORDS.text("schema-registry", "URL")
            .withDescription("With --value-format avro: URL of a schema registry. The feed registers the schema as"
                    + " <topic>-value, and records start with its ID in the format of Confluent's serializers.");

    public static final JobOption<Integer> MAX_RECORD_BYTES = RECORDS.number("max-record-bytes")
            .defaultValue(917_504)
            .atLeast(1024, "is less than 1024")
            .withDescription("Maximum bytes of a record's value. Larger batches are split into numbered parts.");

    public static final JobOption<Integer> REPLICATION = RECORDS.number("replication-factor")
            .defaultValue(-1)
            .withDescription("Replicas of a topic that the feed creates; -1 for the brokers' default.");

    private static final OptionHeading THROTTLING =
            new OptionHeading(FeedFlags.PREFIX, "Consumers that throttle the feed", FeedKind.KAFKA);

    public static final JobOption<List<String>> THROTTLE_GROUPS = THROTTLING
            .texts("throttle-groups", "GROUP")
            .withDescription("A consumer group that throttles the feed. Can be repeated.");

    public static final JobOption<Integer> EPOCHS_AHEAD = THROTTLING
            .number("epochs-ahead")
            .defaultValue(1)
            .atLeast(0, "is negative")
            .withDescription(
                    "Maximum number of epochs that the feed can be ahead of the slowest of" + " --throttle-groups.");

    public static final JobOption<MemorySize> BYTES_AHEAD = THROTTLING
            .size("bytes-ahead")
            .withDescription("Maximum bytes that the feed can be ahead of the slowest of --throttle-groups, over all"
                    + " partitions.");

    public static final JobOption<Duration> EPOCH_TIME = THROTTLING
            .time("epoch-time")
            .defaultValue(Duration.ofHours(24))
            .withDescription("Maximum time of an epoch. The feed refuses a topic with a shorter retention.");

    private TopicFeedFlags() {}

    /** Returns all options under their headings. */
    public static List<OptionHeading> headings() {
        return List.of(TARGET, RECORDS, THROTTLING);
    }

    /** Returns all options. */
    public static List<JobOption<?>> all() {
        return OptionHeading.options(headings());
    }
}

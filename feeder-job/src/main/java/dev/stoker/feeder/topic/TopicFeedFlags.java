package dev.stoker.feeder.topic;

import dev.stoker.feeder.plan.FeedFlags;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** The options of a feed to a topic, beside those of every feed. */
public final class TopicFeedFlags {

    private static final String PREFIX = FeedFlags.PREFIX;

    public static final ConfigOption<String> TO = ConfigOptions.key(PREFIX + "to")
            .stringType()
            .defaultValue("trainers")
            .withDescription("Target of the batches: trainers, which connect to the feeder, or kafka.");

    public static final ConfigOption<String> BOOTSTRAP = ConfigOptions.key(PREFIX + "bootstrap")
            .stringType()
            .noDefaultValue()
            .withDescription("Kafka brokers as host:port,…");

    public static final ConfigOption<String> TOPIC = ConfigOptions.key(PREFIX + "topic")
            .stringType()
            .noDefaultValue()
            .withDescription("Topic to write to. The feed creates it if it does not exist.");

    public static final ConfigOption<Integer> WORLD_SIZE = ConfigOptions.key(PREFIX + "world-size")
            .intType()
            .noDefaultValue()
            .withDescription("Number of ranks that will read the topic. Each rank reads its own partitions.");

    public static final ConfigOption<Boolean> ALLOW_READ_AMPLIFICATION = ConfigOptions.key(
                    PREFIX + "allow-read-amplification")
            .booleanType()
            .defaultValue(false)
            .withDescription("Accept an order with which ranks must also read partitions of other ranks.");

    public static final ConfigOption<String> DELIVERY = ConfigOptions.key(PREFIX + "delivery")
            .stringType()
            .defaultValue("at-least-once")
            .withDescription("at-least-once or exactly-once. With at-least-once, a restart can write records again;"
                    + " Stoker's clients discard duplicates.");

    public static final ConfigOption<Duration> TRANSACTION_TIMEOUT = ConfigOptions.key(PREFIX + "transaction-timeout")
            .durationType()
            .defaultValue(Duration.ofMinutes(15))
            .withDescription("With exactly-once: time after which brokers abort a transaction that no checkpoint has"
                    + " committed.");

    public static final ConfigOption<Integer> MAX_RECORD_BYTES = ConfigOptions.key(PREFIX + "max-record-bytes")
            .intType()
            .defaultValue(917_504)
            .withDescription("Maximum bytes of a record's value. Larger batches are split into numbered parts.");

    public static final ConfigOption<String> VALUE_FORMAT = ConfigOptions.key(PREFIX + "value-format")
            .stringType()
            .defaultValue("arrow")
            .withDescription("Content of a record: arrow, a batch or a part of a batch, or avro, one sample.");

    public static final ConfigOption<String> SCHEMA_REGISTRY = ConfigOptions.key(PREFIX + "schema-registry")
            .stringType()
            .noDefaultValue()
            .withDescription("With --value-format avro: URL of a schema registry. The feed registers the schema as"
                    + " <topic>-value, and records start with its ID in the format of Confluent's serializers.");

    public static final ConfigOption<String> KAFKA_CONFIG = ConfigOptions.key(PREFIX + "kafka-config")
            .stringType()
            .noDefaultValue()
            .withDescription("File with settings of the Kafka clients, such as security.protocol. It must exist on"
                    + " every machine.");

    public static final ConfigOption<List<String>> THROTTLE_GROUPS = ConfigOptions.key(PREFIX + "throttle-groups")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A consumer group that throttles the feed. Can be repeated.");

    public static final ConfigOption<Integer> EPOCHS_AHEAD = ConfigOptions.key(PREFIX + "epochs-ahead")
            .intType()
            .defaultValue(1)
            .withDescription(
                    "Maximum number of epochs that the feed can be ahead of the slowest of" + " --throttle-groups.");

    public static final ConfigOption<MemorySize> BYTES_AHEAD = ConfigOptions.key(PREFIX + "bytes-ahead")
            .memoryType()
            .noDefaultValue()
            .withDescription("Maximum bytes that the feed can be ahead of the slowest of --throttle-groups, over all"
                    + " partitions.");

    public static final ConfigOption<Duration> EPOCH_TIME = ConfigOptions.key(PREFIX + "epoch-time")
            .durationType()
            .defaultValue(Duration.ofHours(24))
            .withDescription("Maximum time of an epoch. The feed refuses a topic with a shorter retention.");

    public static final ConfigOption<Integer> REPLICATION = ConfigOptions.key(PREFIX + "replication-factor")
            .intType()
            .defaultValue(-1)
            .withDescription("Replicas of a topic that the feed creates; -1 for the brokers' default.");

    private TopicFeedFlags() {}

    /** All options, in the order in which they are explained. */
    public static List<ConfigOption<?>> all() {
        return List.of(
                TO,
                BOOTSTRAP,
                TOPIC,
                WORLD_SIZE,
                ALLOW_READ_AMPLIFICATION,
                DELIVERY,
                TRANSACTION_TIMEOUT,
                MAX_RECORD_BYTES,
                VALUE_FORMAT,
                SCHEMA_REGISTRY,
                KAFKA_CONFIG,
                THROTTLE_GROUPS,
                EPOCHS_AHEAD,
                BYTES_AHEAD,
                EPOCH_TIME,
                REPLICATION);
    }
}

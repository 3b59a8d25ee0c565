package dev.stoker.feeder.kafka;

import dev.stoker.feeder.FeederOptions;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** The options of a feed to a topic, beside those of every feed. */
public final class KafkaOptions {

    private static final String PREFIX = FeederOptions.PREFIX;

    public static final ConfigOption<String> TO = ConfigOptions.key(PREFIX + "to")
            .stringType()
            .defaultValue("trainers")
            .withDescription("Where batches go: trainers, who connect to the feeder, or kafka.");

    public static final ConfigOption<String> BOOTSTRAP = ConfigOptions.key(PREFIX + "bootstrap")
            .stringType()
            .noDefaultValue()
            .withDescription("Kafka brokers as host:port,…");

    public static final ConfigOption<String> TOPIC = ConfigOptions.key(PREFIX + "topic")
            .stringType()
            .noDefaultValue()
            .withDescription("Topic to write to; created if it is not there.");

    public static final ConfigOption<Integer> WORLD_SIZE = ConfigOptions.key(PREFIX + "world-size")
            .intType()
            .noDefaultValue()
            .withDescription("Ranks that will read the topic, each its own partitions.");

    public static final ConfigOption<Boolean> ALLOW_READ_AMPLIFICATION = ConfigOptions.key(
                    PREFIX + "allow-read-amplification")
            .booleanType()
            .defaultValue(false)
            .withDescription("Accepts an order under which ranks read partitions that other ranks read, too.");

    public static final ConfigOption<String> DELIVERY = ConfigOptions.key(PREFIX + "delivery")
            .stringType()
            .defaultValue("at-least-once")
            .withDescription(
                    "at-least-once, where a restart may write records again, which Stoker's clients drop, or exactly-once.");

    public static final ConfigOption<Duration> TRANSACTION_TIMEOUT = ConfigOptions.key(PREFIX + "transaction-timeout")
            .durationType()
            .defaultValue(Duration.ofMinutes(15))
            .withDescription("With exactly-once: time after which brokers give up what no checkpoint has committed.");

    public static final ConfigOption<Integer> MAX_RECORD_BYTES = ConfigOptions.key(PREFIX + "max-record-bytes")
            .intType()
            .defaultValue(917_504)
            .withDescription("Most bytes of a record's value; larger batches go in numbered parts.");

    public static final ConfigOption<String> VALUE_FORMAT = ConfigOptions.key(PREFIX + "value-format")
            .stringType()
            .defaultValue("arrow")
            .withDescription("What a record holds: arrow, a batch or a part of one, or avro, one sample.");

    public static final ConfigOption<String> SCHEMA_REGISTRY = ConfigOptions.key(PREFIX + "schema-registry")
            .stringType()
            .noDefaultValue()
            .withDescription("With --value-format avro: URL of a schema registry. The schema is registered as"
                    + " <topic>-value, and records begin with its id, as Confluent's serializers write them.");

    public static final ConfigOption<String> KAFKA_CONFIG = ConfigOptions.key(PREFIX + "kafka-config")
            .stringType()
            .noDefaultValue()
            .withDescription("File with settings of the Kafka clients, such as security.protocol, on every machine.");

    public static final ConfigOption<List<String>> PACE_GROUPS = ConfigOptions.key(PREFIX + "pace-groups")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("Consumer groups that the feed does not run away from; separated by semicolons.");

    public static final ConfigOption<Integer> EPOCHS_AHEAD = ConfigOptions.key(PREFIX + "epochs-ahead")
            .intType()
            .defaultValue(1)
            .withDescription("Epochs that the feed may be in front of the slowest of --pace-groups.");

    public static final ConfigOption<MemorySize> BYTES_AHEAD = ConfigOptions.key(PREFIX + "bytes-ahead")
            .memoryType()
            .noDefaultValue()
            .withDescription(
                    "Bytes that the feed may be in front of the slowest of --pace-groups, over all partitions.");

    public static final ConfigOption<Duration> EPOCH_TIME = ConfigOptions.key(PREFIX + "epoch-time")
            .durationType()
            .defaultValue(Duration.ofHours(24))
            .withDescription("Time that trainers may take for an epoch; a topic that forgets sooner is refused.");

    public static final ConfigOption<Integer> REPLICATION = ConfigOptions.key(PREFIX + "replication-factor")
            .intType()
            .defaultValue(-1)
            .withDescription("Copies of a topic that is created; -1 for the brokers' default.");

    private KafkaOptions() {}

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
                PACE_GROUPS,
                EPOCHS_AHEAD,
                BYTES_AHEAD,
                EPOCH_TIME,
                REPLICATION);
    }
}

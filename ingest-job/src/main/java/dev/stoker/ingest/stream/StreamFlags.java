package dev.stoker.ingest.stream;

import dev.stoker.ingest.IngestFlags;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;

/** The additional options of an ingest from a topic. */
public final class StreamFlags {

    private static final String PREFIX = IngestFlags.PREFIX;

    public static final ConfigOption<String> VALUE = ConfigOptions.key(PREFIX + "value")
            .stringType()
            .noDefaultValue()
            .withDescription(
                    "What the records' values are: raw (bytes, which go into the field of --field), json (one flat"
                            + " object) or avro (one record).");

    public static final ConfigOption<Duration> COMMIT_INTERVAL = ConfigOptions.key(PREFIX + "commit-interval")
            .durationType()
            .defaultValue(Duration.ofMinutes(1))
            .withDescription("Time between versions, and between checkpoints; an interval without samples makes none.");

    public static final ConfigOption<String> FROM = ConfigOptions.key(PREFIX + "from")
            .stringType()
            .defaultValue("earliest")
            .withDescription("Where the first start begins: earliest, latest, or a time such as 2026-11-20T10:00:00Z."
                    + " Later starts go on where the dataset stands.");

    public static final ConfigOption<String> UNTIL = ConfigOptions.key(PREFIX + "until")
            .stringType()
            .noDefaultValue()
            .withDescription("latest: end, with a version, where the topic ends at the start.");

    public static final ConfigOption<String> KEY = ConfigOptions.key(PREFIX + "key")
            .stringType()
            .defaultValue("offset")
            .withDescription(
                    "What a sample's key is: offset (topic-partition-offset), or record for the record's own key,"
                            + " which must be UTF-8 and come once.");

    public static final ConfigOption<String> KEY_FIELD = ConfigOptions.key(PREFIX + "key-field")
            .stringType()
            .noDefaultValue()
            .withDescription("Field that takes the record's key, as utf8.");

    public static final ConfigOption<List<String>> HEADER = ConfigOptions.key(PREFIX + "header")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription(
                    "A header that becomes a field, as name, name=field or name=field:type (utf8 by default; binary,"
                            + " categorical, bool and the numbers, written as text); may be repeated.");

    public static final ConfigOption<String> TIMESTAMP = ConfigOptions.key(PREFIX + "timestamp")
            .stringType()
            .noDefaultValue()
            .withDescription("Field that takes the record's time, in milliseconds since 1970, as int64.");

    public static final ConfigOption<List<String>> SCHEMA = ConfigOptions.key(PREFIX + "schema")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("Fields of a json or avro value and their types, as name:type, such as label:categorical,"
                    + " tokens:int32[] or caption:utf8? (may be missing); may be repeated. By default those of the first"
                    + " 1,000 records, or of the Avro schema.");

    public static final ConfigOption<String> AVRO_SCHEMA = ConfigOptions.key(PREFIX + "avro-schema")
            .stringType()
            .noDefaultValue()
            .withDescription("File with the Avro schema of the values.");

    public static final ConfigOption<String> AVRO_WIRE = ConfigOptions.key(PREFIX + "avro-wire")
            .stringType()
            .defaultValue("plain")
            .withDescription(
                    "How Avro values are framed: plain, or confluent for the 5 bytes with a schema's id in front,"
                            + " which --schema-registry implies.");

    public static final ConfigOption<String> SCHEMA_REGISTRY = ConfigOptions.key(PREFIX + "schema-registry")
            .stringType()
            .noDefaultValue()
            .withDescription(
                    "URL of the schema registry that knows the ids in front of Avro values; basic.auth.user.info in"
                            + " the file of --kafka-config is user:password for it.");

    public static final ConfigOption<String> DEAD_LETTERS = ConfigOptions.key(PREFIX + "dead-letters")
            .stringType()
            .noDefaultValue()
            .withDescription("Directory or URI for records that cannot become samples, one file each; by default"
                    + " _stoker/dead-letters in the dataset.");

    public static final ConfigOption<Long> MAX_DEAD_LETTERS = ConfigOptions.key(PREFIX + "max-dead-letters")
            .longType()
            .defaultValue(1000L)
            .withDescription("The ingest fails when it has found more records that cannot become samples.");

    public static final ConfigOption<Boolean> ALLOW_GAP = ConfigOptions.key(PREFIX + "allow-gap")
            .booleanType()
            .defaultValue(false)
            .withDescription("Goes on although the brokers have deleted records before they were ingested.");

    public static final ConfigOption<String> KAFKA_CONFIG = ConfigOptions.key(PREFIX + "kafka-config")
            .stringType()
            .noDefaultValue()
            .withDescription("File with settings of the Kafka clients, such as security.protocol, on every machine.");

    private StreamFlags() {}

    /** All of them, in the order in which they are explained. */
    public static List<ConfigOption<?>> all() {
        return List.of(
                VALUE,
                COMMIT_INTERVAL,
                FROM,
                UNTIL,
                KEY,
                KEY_FIELD,
                HEADER,
                TIMESTAMP,
                SCHEMA,
                AVRO_SCHEMA,
                AVRO_WIRE,
                SCHEMA_REGISTRY,
                DEAD_LETTERS,
                MAX_DEAD_LETTERS,
                ALLOW_GAP,
                KAFKA_CONFIG);
    }

    /** The options of every ingest that also apply to topics. */
    static List<ConfigOption<?>> shared() {
        return List.of(
                IngestFlags.FIELD,
                IngestFlags.PAYLOAD,
                IngestFlags.SPLIT,
                IngestFlags.CHUNK_SIZE,
                IngestFlags.NAME,
                IngestFlags.APPEND,
                IngestFlags.DRY_RUN,
                IngestFlags.PARALLELISM);
    }
}

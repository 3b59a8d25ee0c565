package dev.stoker.ingest.topic;

import dev.stoker.ingest.spec.IngestFlags;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;

/** The additional options of an ingest from a topic. */
public final class TopicIngestFlags {

    private static final String PREFIX = IngestFlags.PREFIX;

    public static final ConfigOption<String> VALUE = ConfigOptions.key(PREFIX + "value")
            .stringType()
            .noDefaultValue()
            .withDescription("Format of the records' values: raw (bytes, which become the field of --field), json"
                    + " (one flat object) or avro (one record).");

    public static final ConfigOption<Duration> COMMIT_INTERVAL = ConfigOptions.key(PREFIX + "commit-interval")
            .durationType()
            .defaultValue(Duration.ofMinutes(1))
            .withDescription("Time between versions, and between checkpoints. An interval without samples creates no"
                    + " version.");

    public static final ConfigOption<String> FROM = ConfigOptions.key(PREFIX + "from")
            .stringType()
            .defaultValue("earliest")
            .withDescription("Position of the first start: earliest, latest, or a time such as 2026-11-20T10:00:00Z."
                    + " Later starts resume at the dataset's position.");

    public static final ConfigOption<String> UNTIL = ConfigOptions.key(PREFIX + "until")
            .stringType()
            .noDefaultValue()
            .withDescription("latest: commit the records up to the end of the topic at the start, and end.");

    public static final ConfigOption<String> KEY = ConfigOptions.key(PREFIX + "key")
            .stringType()
            .defaultValue("offset")
            .withDescription(
                    "Key of a sample. From a topic: offset (topic-partition-offset), or record for the record's"
                            + " key, which must be UTF-8 and unique. From rows: columns with commas between them, whose"
                            + " values are joined by /, and __file__ for the path of the file; without it the position"
                            + " in the source, as file#row.");

    public static final ConfigOption<String> TOMBSTONES = ConfigOptions.key(PREFIX + "tombstones")
            .stringType()
            .defaultValue("skip")
            .withDescription("What to do with records without a value, which delete their keys from a compacted topic:"
                    + " skip to leave them out and count them, dead-letter, or delete to delete the samples with their"
                    + " keys, which needs --on-duplicate replace.");

    public static final ConfigOption<String> KEY_FIELD = ConfigOptions.key(PREFIX + "key-field")
            .stringType()
            .noDefaultValue()
            .withDescription("Field for the record's key, as utf8.");

    public static final ConfigOption<List<String>> HEADER = ConfigOptions.key(PREFIX + "header")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A header that becomes a field, as name, name=field or name=field:type (utf8 by default;"
                    + " binary, categorical, bool, and numbers that are written as text). Can be repeated.");

    public static final ConfigOption<String> TIMESTAMP = ConfigOptions.key(PREFIX + "timestamp")
            .stringType()
            .noDefaultValue()
            .withDescription("Field for the record's timestamp, as timestamp[ms,UTC].");

    public static final ConfigOption<List<String>> SCHEMA = ConfigOptions.key(PREFIX + "schema")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A field of a json or avro value and its type, as name:type, such as label:categorical,"
                    + " tokens:int32[], at:timestamp[ms,UTC], price:decimal(10,2) or caption:utf8? (nullable). Can be"
                    + " repeated. Default: the fields of the first 1,000 records, or of the Avro schema.");

    public static final ConfigOption<String> AVRO_SCHEMA = ConfigOptions.key(PREFIX + "avro-schema")
            .stringType()
            .noDefaultValue()
            .withDescription("File with the Avro schema of the values.");

    public static final ConfigOption<String> AVRO_WIRE = ConfigOptions.key(PREFIX + "avro-wire")
            .stringType()
            .defaultValue("plain")
            .withDescription("Framing of Avro values: plain, or confluent for values that start with 5 bytes with a"
                    + " schema's ID. --schema-registry implies confluent.");

    public static final ConfigOption<String> SCHEMA_REGISTRY = ConfigOptions.key(PREFIX + "schema-registry")
            .stringType()
            .noDefaultValue()
            .withDescription("URL of the schema registry for the IDs in Avro values. basic.auth.user.info in the file"
                    + " of --kafka-config sets user:password.");

    public static final ConfigOption<String> DEAD_LETTERS = ConfigOptions.key(PREFIX + "dead-letters")
            .stringType()
            .noDefaultValue()
            .withDescription("Directory or URI for records that cannot become samples, one file each. Default:"
                    + " _stoker/dead-letters in the dataset.");

    public static final ConfigOption<Long> MAX_DEAD_LETTERS = ConfigOptions.key(PREFIX + "max-dead-letters")
            .longType()
            .defaultValue(1000L)
            .withDescription(
                    "Maximum number of records that cannot become samples. The ingest fails if it finds" + " more.");

    public static final ConfigOption<Boolean> ALLOW_GAP = ConfigOptions.key(PREFIX + "allow-gap")
            .booleanType()
            .defaultValue(false)
            .withDescription("Continue although the brokers have deleted records that were not ingested.");

    public static final ConfigOption<String> KAFKA_CONFIG = ConfigOptions.key(PREFIX + "kafka-config")
            .stringType()
            .noDefaultValue()
            .withDescription("File with settings of the Kafka clients, such as security.protocol. It must exist on"
                    + " every machine.");

    private TopicIngestFlags() {}

    /** All of them, in the order in which they are explained. */
    public static List<ConfigOption<?>> all() {
        return List.of(
                VALUE,
                COMMIT_INTERVAL,
                FROM,
                UNTIL,
                KEY,
                TOMBSTONES,
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
                IngestFlags.ON_DUPLICATE,
                IngestFlags.NAME,
                IngestFlags.APPEND,
                IngestFlags.DRY_RUN,
                IngestFlags.PARALLELISM);
    }
}

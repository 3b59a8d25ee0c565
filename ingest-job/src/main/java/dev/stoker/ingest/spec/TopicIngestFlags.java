package dev.stoker.ingest.spec;

import dev.stoker.flink.arguments.JobOption;
import dev.stoker.flink.arguments.OptionHeading;
import dev.stoker.ingest.spec.OptionKinds.Kind;
import java.time.Duration;
import java.util.List;

/** The additional options of an ingest from a topic. */
public final class TopicIngestFlags {

    private static final OptionHeading RECORDS =
            new OptionHeading(IngestFlags.PREFIX, "Records of a Kafka topic (kafka://…)", Kind.TOPIC);

    public static final JobOption<String> VALUE = RECORDS.choice("value", "raw", "json", "avro")
            .instead(Kind.ROWS, "--format FORMAT names the format of the source")
            .withDescription("Format of the records' values: raw (bytes, which become the field of --field), json"
                    + " (one object) or avro (one record).");

    public static final JobOption<String> KEY = RECORDS.text("key", "KEY")
            .defaultValue("offset")
            .of(Kind.ROWS, Kind.TOPIC)
            .instead(Kind.FILES, "the key is the path of the file; leave it out")
            .withDescription(
                    "Key of a sample. From a topic: offset (topic-partition-offset), or record for the record's"
                            + " key, which must be UTF-8 and unique. From rows: columns with commas between them, whose"
                            + " values are joined by /, and __file__ for the path of the file; without it the position"
                            + " in the source, as file#row.");

    public static final JobOption<String> TOMBSTONES = RECORDS.choice("tombstones", "skip", "dead-letter", "delete")
            .defaultValue("skip")
            .withDescription("What to do with records without a value, which delete their keys from a compacted topic:"
                    + " skip to leave them out and count them, dead-letter, or delete to delete the samples with their"
                    + " keys, which needs --on-duplicate replace.");

    public static final JobOption<String> KEY_FIELD =
            RECORDS.text("key-field", "FIELD").withDescription("Field for the record's key, as utf8.");

    public static final JobOption<List<String>> HEADER = RECORDS.texts("header", "HEADER")
            .withDescription("A header that becomes a field, as name, name=field or name=field:type (utf8 by default;"
                    + " binary, categorical, bool, and numbers that are written as text). Can be repeated.");

    public static final JobOption<String> TIMESTAMP = RECORDS.text("timestamp", "FIELD")
            .withDescription("Field for the record's timestamp, as timestamp[ms,UTC].");

    public static final JobOption<List<String>> SCHEMA = RECORDS.texts("schema", "FIELD:TYPE")
            .instead(Kind.ROWS, "--type COLUMN=TYPE names the type of a column")
            .withDescription("A field of a json or avro value and its type, as name:type, such as label:categorical,"
                    + " tokens:int32[], at:timestamp[ms,UTC], price:decimal(10,2) or caption:utf8? (nullable). Can be"
                    + " repeated. Default: the fields of the first 1,000 records, or of the Avro schema.");

    public static final JobOption<String> AVRO_SCHEMA =
            RECORDS.text("avro-schema", "FILE").withDescription("File with the Avro schema of the values.");

    public static final JobOption<String> AVRO_WIRE = RECORDS.choice("avro-wire", "plain", "confluent")
            .defaultValue("plain")
            .withDescription("Framing of Avro values: plain, or confluent for values that start with 5 bytes with a"
                    + " schema's ID. --schema-registry implies confluent.");

    public static final JobOption<String> SCHEMA_REGISTRY = RECORDS.text("schema-registry", "URL")
            .withDescription("URL of the schema registry for the IDs in Avro values. basic.auth.user.info in the file"
                    + " of --kafka-config sets user:password.");

    private static final OptionHeading READING =
            new OptionHeading(IngestFlags.PREFIX, "Reading a Kafka topic", Kind.TOPIC);

    public static final JobOption<Duration> COMMIT_INTERVAL = READING.time("commit-interval")
            .defaultValue(Duration.ofMinutes(1))
            .atLeast(100, "is not at least 100 ms")
            .withDescription("Time between versions, and between checkpoints. An interval without samples creates no"
                    + " version.");

    public static final JobOption<String> FROM = READING.text("from", "POSITION")
            .defaultValue("earliest")
            .withDescription("Position of the first start: earliest, latest, or a time such as 2026-11-20T10:00:00Z."
                    + " Later starts resume at the dataset's position.");

    public static final JobOption<String> UNTIL = READING.choice("until", "latest")
            .withDescription("latest: commit the records up to the end of the topic at the start, and end.");

    public static final JobOption<Boolean> ALLOW_GAP = READING.flag("allow-gap")
            .withDescription("Continue although the brokers have deleted records that were not ingested.");

    public static final JobOption<String> DEAD_LETTERS = READING.text("dead-letters", "DIRECTORY")
            .withDescription("Directory or URI for records that cannot become samples, one file each. Default:"
                    + " _stoker/dead-letters in the dataset.");

    public static final JobOption<Long> MAX_DEAD_LETTERS = READING.longNumber("max-dead-letters")
            .defaultValue(1000L)
            .atLeast(0, "is not at least 0")
            .withDescription(
                    "Maximum number of records that cannot become samples. The ingest fails if it finds" + " more.");

    public static final JobOption<String> KAFKA_CONFIG = READING.text("kafka-config", "FILE")
            .withDescription("File with settings of the Kafka clients, such as security.protocol. It must exist on"
                    + " every machine.");

    private TopicIngestFlags() {}

    /** Returns all options under their headings. */
    public static List<OptionHeading> headings() {
        return List.of(RECORDS, READING);
    }

    /** Returns all options. */
    public static List<JobOption<?>> all() {
        return OptionHeading.options(headings());
    }
}

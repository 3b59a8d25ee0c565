package dev.stoker.cli.options;

import static java.util.Map.entry;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;

/**
 * Provides what help shows behind the equals sign of an option: {@code N} for numbers, {@code FILE} for files, or the
 * values that an option can have, as {@code skip|include}. Shell completion offers these values.
 */
public final class OptionLabels {
    private static final String COLUMNS = "COLUMN,…";
    private static final String DIRECTORY = "DIRECTORY";
    private static final String FIELD = "FIELD";
    private static final String FILE = "FILE";
    private static final String NUMBER = "N";

    /** By the option without hyphens in front. The job declares the type; this says what a text means. */
    private static final Map<String, String> LABELS = Map.ofEntries(
            entry("advertise", "HOST"),
            entry("as-of", "TIME"),
            entry("avro-schema", FILE),
            entry("avro-wire", "plain|confluent"),
            entry("bind", "HOST"),
            entry("bootstrap", "HOST:PORT,…"),
            entry("bytes-ahead", "SIZE"),
            entry("cache-access", "user|group"),
            entry("cache-lifetime", "feed|node"),
            entry("columns", COLUMNS),
            entry("compression", "CODEC"),
            entry("dead-letters", DIRECTORY),
            entry("delivery", "at-least-once|exactly-once"),
            entry("empty", "skip|include"),
            entry("epochs", NUMBER),
            entry("exclude", "PATTERN"),
            entry("exclude-keys-from", "FILE"),
            entry("field", FIELD),
            entry("format", "FORMAT"),
            entry("from", "POSITION"),
            entry("groups", "GROUP"),
            entry("header", "HEADER"),
            entry("hidden", "skip|include"),
            entry("include", "PATTERN"),
            entry("ingest-id", "ID"),
            entry("kafka-config", FILE),
            entry("key", "KEY"),
            entry("key-field", FIELD),
            entry("label", "COLUMN"),
            entry("label-field", FIELD),
            entry("label-from", "SOURCE"),
            entry("lane-order", "mixed|fixed"),
            entry("layout", "stoker|huggingface"),
            entry("ledger", DIRECTORY),
            entry("limit", NUMBER),
            entry("links", "follow|skip"),
            entry("name", "NAME"),
            entry("on-corrupt", "fail|skip"),
            entry("on-duplicate", "fail|skip|replace|first|last"),
            entry("on-error", "fail|skip"),
            entry("order", "ORDER"),
            entry("origin-bandwidth", "SIZE"),
            entry("parallelism", NUMBER),
            entry("payload", FIELD),
            entry("port", "PORT"),
            entry("read", "COLUMN=FIELD"),
            entry("read-root", DIRECTORY),
            entry("rename", "COLUMN=NAME"),
            entry("schema", "FIELD:TYPE"),
            entry("schema-registry", "URL"),
            entry("shards", NUMBER),
            entry("shuffle", "window|none"),
            entry("sidecar", "ENDING=FIELD"),
            entry("sort-memory", "SIZE"),
            entry("split", "SPLIT=SHARE"),
            entry("split-by", "COLUMN"),
            entry("split-from", "top-dir"),
            entry("throttle-groups", "GROUP"),
            entry("tier", "TIER"),
            entry("timestamp", FIELD),
            entry("tls-cert", FILE),
            entry("tls-client-ca", FILE),
            entry("tls-key", FILE),
            entry("to", "trainers|kafka"),
            entry("token-file", FILE),
            entry("tombstones", "skip|dead-letter|delete"),
            entry("topic", "TOPIC"),
            entry("type", "COLUMN=TYPE"),
            entry("ui", "ADDRESS"),
            entry("until", "latest"),
            entry("value", "raw|json|avro"),
            entry("value-format", "arrow|avro"),
            entry("version", "NAME"),
            entry("where", "CONDITION"),
            entry("without", "COLUMN"),
            entry("working-memory", "SIZE"),
            entry("world-size", NUMBER));

    private OptionLabels() {}

    /** Returns the label of an option, or nothing for one without a value. */
    public static String of(ConfigOption<?> option, String flag) {
        Object value = option.defaultValue();
        if (value instanceof Boolean) {
            return "";
        }
        if (value instanceof Number) {
            return NUMBER;
        }
        if (value instanceof MemorySize) {
            return "SIZE";
        }
        return value instanceof Duration ? "TIME" : LABELS.getOrDefault(flag.substring(2), "VALUE");
    }

    /** Returns the values that a label lists; none if it is a name. */
    public static List<String> values(String label) {
        return label.equals("top-dir") || label.equals("latest") || label.contains("|")
                ? List.of(label.split("\\|"))
                : List.of();
    }
}

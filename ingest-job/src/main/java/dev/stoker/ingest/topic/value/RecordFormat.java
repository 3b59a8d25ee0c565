package dev.stoker.ingest.topic.value;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * The format of the values of a topic's records. Serialized with the job graph.
 *
 * @param kind of the values
 * @param field the field for a raw value
 * @param avroSchema the Avro schema into which values are read, as JSON; null for none, or for the registry's schema
 * @param wire the framing of Avro values
 * @param registry URL of the schema registry; null for none
 */
public record RecordFormat(
        Kind kind,
        String field,
        @Nullable String avroSchema,
        Wire wire,
        @Nullable String registry) implements Serializable {
    private static final long serialVersionUID = 1;

    /** Kinds of values. */
    public enum Kind {
        RAW,
        JSON,
        AVRO
    }

    /** The framing of Avro values. */
    public enum Wire {
        /** Only the value. */
        PLAIN,
        /** A zero byte and the schema's id, 4 bytes in big-endian order, precede the value. */
        CONFLUENT
    }

    public RecordFormat withSchema(String schema) {
        return new RecordFormat(kind, field, schema, wire, registry);
    }
}

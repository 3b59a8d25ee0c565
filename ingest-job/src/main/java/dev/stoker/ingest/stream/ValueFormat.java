package dev.stoker.ingest.stream;

import java.io.Serializable;

/**
 * What the values of a topic's records are. Travels with the job graph.
 *
 * @param kind of the values
 * @param field that takes a raw value
 * @param avroSchema the Avro schema that values are read as, as JSON; null for none, or for that of the registry
 * @param wire how Avro values are framed
 * @param registry URL of the schema registry; null for none
 */
record ValueFormat(Kind kind, String field, String avroSchema, Wire wire, String registry) implements Serializable {
    private static final long serialVersionUID = 1;

    /** Kinds of values. */
    enum Kind {
        RAW,
        JSON,
        AVRO
    }

    /** How Avro values are framed. */
    enum Wire {
        /** Nothing but the value. */
        PLAIN,
        /** A zero byte and the schema's id, 4 bytes with the highest first, in front. */
        CONFLUENT
    }

    ValueFormat withSchema(String schema) {
        return new ValueFormat(kind, field, schema, wire, registry);
    }
}

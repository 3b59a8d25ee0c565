package dev.stoker.ingest.topic.value;

import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Maps the key, time and headers of a record to fields. Serialized with the job graph.
 *
 * @param keys the origin of a sample's key
 * @param keyField the field for the record's key; null for none
 * @param timestampField the field for the record's time; null for none
 * @param headers that become fields
 */
public record RecordMapping(
        TopicRun.Keys keys,
        @Nullable String keyField,
        @Nullable String timestampField,
        ArrayList<Header> headers) implements Serializable {
    private static final long serialVersionUID = 1;

    /** The type of the field for the record's time, which Kafka gives in milliseconds. */
    public static final String TIMESTAMP = "timestamp[ms,UTC]";

    public RecordMapping {
        headers = new ArrayList<>(headers);
    }

    /**
     * A header that becomes a field.
     *
     * @param name of the header
     * @param field the field for the header
     * @param type of the field, canonical
     */
    public record Header(String name, String field, String type) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    /** The fields that the mapping fills, in the order in which a new dataset has them. */
    public List<Field> fields() {
        List<Field> fields = new ArrayList<>();
        if (keyField != null) {
            fields.add(Field.nullable(keyField, FieldType.parse("utf8")));
        }
        if (timestampField != null) {
            fields.add(Field.small(timestampField, FieldType.parse(TIMESTAMP)));
        }
        for (Header header : headers) {
            fields.add(Field.nullable(header.field(), FieldType.parse(header.type())));
        }
        return fields;
    }
}

package dev.stoker.ingest.topic.value;

import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;

/** Derives fields from an Avro record. */
public final class AvroFields {

    private AvroFields() {}

    /**
     * Parses a schema.
     *
     * @throws IllegalArgumentException if the text is not a schema of a record
     */
    public static Schema parse(String text) {
        Schema schema;
        try {
            schema = new Schema.Parser().parse(text);
        } catch (AvroRuntimeException e) {
            throw new IllegalArgumentException("invalid Avro schema: " + e.getMessage(), e);
        }
        if (schema.getType() != Schema.Type.RECORD) {
            throw new IllegalArgumentException(
                    "the Avro schema describes a " + schema.getType().getName() + "; expected a record");
        }
        return schema;
    }

    /**
     * The fields of a record as small fields, in its order.
     *
     * @param notes receives a sentence for each Avro field that is not supported
     */
    public static List<Field> of(Schema schema, List<String> notes) {
        List<Field> fields = new ArrayList<>();
        for (Schema.Field field : schema.getFields()) {
            Optional<String> type = typeOf(field.schema());
            if (field.name().equals(Field.KEY)) {
                notes.add("the Avro field key is ignored: key is the name of the sample's key");
            } else if (type.isEmpty()) {
                notes.add("the Avro field " + field.name() + " is ignored: it is a " + value(field.schema()));
            } else {
                fields.add(new Field(field.name(), FieldType.parse(type.get()), isNullable(field.schema()), false));
            }
        }
        if (fields.isEmpty()) {
            throw new InvalidIngestException("the Avro schema " + schema.getFullName() + " has no supported field");
        }
        return fields;
    }

    private static Schema.Type value(Schema schema) {
        return withoutNull(schema).getType();
    }

    /** The other branch of an optional type, or the schema itself. */
    static Schema withoutNull(Schema schema) {
        if (schema.getType() != Schema.Type.UNION) {
            return schema;
        }
        List<Schema> others = schema.getTypes().stream()
                .filter(branch -> branch.getType() != Schema.Type.NULL)
                .toList();
        return others.size() == 1 ? others.get(0) : schema;
    }

    private static boolean isNullable(Schema schema) {
        return schema.isNullable();
    }

    /** The type of a field; empty if there is none. */
    static Optional<String> typeOf(Schema schema) {
        Schema value = withoutNull(schema);
        if (value.getLogicalType() != null) {
            Optional<String> logical = logical(value.getLogicalType());
            if (logical.isPresent()) {
                return logical;
            }
        }
        return Optional.ofNullable(
                switch (value.getType()) {
                    case BOOLEAN -> "bool";
                    case STRING -> "utf8";
                    case BYTES, FIXED -> "binary";
                    case ENUM -> "categorical";
                    case ARRAY ->
                        item(value.getElementType())
                                .map(element -> element + "[]")
                                .or(() -> nullableItem(value.getElementType()).map(element -> element + "?[]"))
                                .orElse(null);
                    default -> number(value).orElse(null);
                });
    }

    /** The type of a logical type; empty for those that are stored as their Avro type. */
    static Optional<String> logical(LogicalType type) {
        if (type instanceof LogicalTypes.Decimal decimal) {
            return decimal.getPrecision() > 38 || decimal.getScale() > decimal.getPrecision()
                    ? Optional.empty()
                    : Optional.of("decimal(" + decimal.getPrecision() + "," + decimal.getScale() + ")");
        }
        return Optional.ofNullable(
                switch (type.getName()) {
                    case "timestamp-millis" -> "timestamp[ms,UTC]";
                    case "timestamp-micros" -> "timestamp[us,UTC]";
                    case "timestamp-nanos" -> "timestamp[ns,UTC]";
                    case "local-timestamp-millis" -> "timestamp[ms]";
                    case "local-timestamp-micros" -> "timestamp[us]";
                    case "local-timestamp-nanos" -> "timestamp[ns]";
                    case "date" -> "date";
                    case "time-millis" -> "time[ms]";
                    case "time-micros" -> "time[us]";
                    default -> null;
                });
    }

    private static Optional<String> item(Schema item) {
        return switch (item.getType()) {
            case STRING -> Optional.of("utf8");
            case BYTES, FIXED -> Optional.of("binary");
            case ARRAY -> number(item.getElementType()).map(element -> element + "[]");
            default -> number(item);
        };
    }

    /** The type of items that may be null: text, bytes or numbers. */
    private static Optional<String> nullableItem(Schema item) {
        Schema value = withoutNull(item);
        boolean isOptional = item.getType() == Schema.Type.UNION && value.getType() != Schema.Type.UNION;
        return isOptional && value.getType() != Schema.Type.ARRAY ? item(value) : Optional.empty();
    }

    private static Optional<String> number(Schema schema) {
        return Optional.ofNullable(
                switch (schema.getType()) {
                    case INT -> "int32";
                    case LONG -> "int64";
                    case FLOAT -> "float32";
                    case DOUBLE -> "float64";
                    default -> null;
                });
    }
}

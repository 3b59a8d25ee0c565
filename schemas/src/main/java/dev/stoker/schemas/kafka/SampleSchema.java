package dev.stoker.schemas.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Builds the Avro schema of a dataset's samples: {@code key}, the small fields, {@code crc32c_<name>} for each payload
 * field, the payload fields. {@code docs/formats/kafka.md} specifies the mapping of types.
 *
 * <p>Lists of numbers are arrays, which every consumer of Avro reads. Tensors are bytes: Avro has no shapes, and their
 * numbers are one run of memory for all that use them. Classes are strings: a class id needs a list of names, and with
 * an enum every new class would be a new schema.
 */
public final class SampleSchema {

    private SampleSchema() {}

    /** Returns the schema as JSON without spaces. */
    public static String of(List<Field> fields) {
        ObjectNode schema = JsonNodeFactory.instance.objectNode();
        schema.put("type", "record").put("name", "Sample").put("namespace", "dev.stoker");
        ArrayNode columns = schema.putArray("fields");
        Set<String> names = new HashSet<>();
        columns.addObject().put("name", name(Field.KEY, names)).put("type", "string");
        for (Field field : fields) {
            if (!field.payload()) {
                add(columns, field, names);
            }
        }
        for (Field field : fields) {
            if (field.payload()) {
                columns.addObject()
                        .put("name", name("crc32c_" + field.name(), names))
                        .put("type", "long")
                        .put("stoker.crc32c", field.name());
            }
        }
        for (Field field : fields) {
            if (field.payload()) {
                add(columns, field, names);
            }
        }
        return schema.toString();
    }

    private static void add(ArrayNode columns, Field field, Set<String> names) {
        ObjectNode column = columns.addObject().put("name", name(field.name(), names));
        if (field.nullable()) {
            column.putArray("type").add("null").add(type(field.type()));
            column.putNull("default");
        } else {
            column.set("type", type(field.type()));
        }
        column.put("stoker.field", field.name()).put("stoker.type", field.type().canonical());
    }

    private static JsonNode type(FieldType type) {
        if (type instanceof ScalarType scalar) {
            return scalar == ScalarType.DATE ? logical("int", "date") : TextNode.valueOf(scalar(scalar));
        }
        if (type instanceof TimestampType timestamp) {
            String kind = timestamp.zone().isPresent() ? "timestamp-" : "local-timestamp-";
            return timestamp.unit() == TimeResolution.SECONDS
                    ? TextNode.valueOf("long")
                    : logical("long", kind + unit(timestamp.unit()));
        }
        if (type instanceof TimeType time) {
            return switch (time.unit()) {
                case SECONDS -> TextNode.valueOf("int");
                case MILLISECONDS -> logical("int", "time-millis");
                case MICROSECONDS -> logical("long", "time-micros");
                case NANOSECONDS -> TextNode.valueOf("long");
            };
        }
        if (type instanceof DecimalType decimal) {
            return logical("bytes", "decimal")
                    .put("precision", decimal.precision())
                    .put("scale", decimal.scale());
        }
        if (type instanceof ListType list) {
            JsonNode item = type(list.item());
            return array(
                    list.nullItems()
                            ? JsonNodeFactory.instance.arrayNode().add("null").add(item)
                            : item);
        }
        return TextNode.valueOf("bytes");
    }

    private static ObjectNode array(JsonNode items) {
        ObjectNode array = JsonNodeFactory.instance.objectNode().put("type", "array");
        array.set("items", items);
        return array;
    }

    private static ObjectNode logical(String type, String logicalType) {
        return JsonNodeFactory.instance.objectNode().put("type", type).put("logicalType", logicalType);
    }

    private static String unit(TimeResolution unit) {
        return switch (unit) {
            case SECONDS -> throw new IllegalArgumentException("Avro has no timestamps in seconds");
            case MILLISECONDS -> "millis";
            case MICROSECONDS -> "micros";
            case NANOSECONDS -> "nanos";
        };
    }

    private static String scalar(ScalarType type) {
        return switch (type) {
            case BOOL -> "boolean";
            case INT8, INT16, INT32, UINT8, UINT16, DATE -> "int";
            case UINT32, INT64, UINT64 -> "long";
            case FLOAT16, BFLOAT16, FLOAT32 -> "float";
            case FLOAT64 -> "double";
            case UTF8, CATEGORICAL -> "string";
            case BINARY -> "bytes";
        };
    }

    /**
     * Returns an Avro name. Avro's names consist of letters, digits and underscores of ASCII and do not begin with a
     * digit. A duplicate name gets underscores at its end.
     */
    private static String name(String field, Set<String> taken) {
        String name = field.replaceAll("[^A-Za-z0-9_]", "_").replaceFirst("^(?=[0-9])", "_");
        while (!taken.add(name)) {
            name += "_";
        }
        return name;
    }
}

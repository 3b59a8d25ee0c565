package dev.stoker.schemas.kafka;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.arrow.FieldType.Layout;
import dev.stoker.schemas.arrow.ScalarType;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Builds the Avro schema of a dataset's samples: {@code key}, the small fields, {@code crc32c_<name>} for each payload
 * field, the payload fields. {@code docs/formats/kafka.md} specifies the mapping of types.
 *
 * <p>Lists and tensors are bytes, because decoders may change floats and an Avro array encodes each number with a
 * variable length. Classes are strings: a class id needs a list of names, and with an enum every new class would be a
 * new schema.
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
            column.putArray("type").add("null").add(type(field));
            column.putNull("default");
        } else {
            column.put("type", type(field));
        }
        column.put("stoker.field", field.name()).put("stoker.type", field.type().canonical());
    }

    private static String type(Field field) {
        if (field.type().layout() == Layout.LIST || field.type().layout() == Layout.TENSOR) {
            return "bytes";
        }
        return switch ((ScalarType) field.type()) {
            case BOOL -> "boolean";
            case INT8, INT16, INT32, UINT8, UINT16 -> "int";
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

package dev.stoker.formats.huggingface;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import java.util.List;
import java.util.Set;

/** Writes the metadata {@code huggingface}, which {@link Feature} reads. */
public final class FeaturesJson {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final String TYPE = "_type";

    private FeaturesJson() {}

    /**
     * Returns the features of columns.
     *
     * @param columns those with classes have the numbers of the classes
     * @param images names of the columns that are structs of the bytes and the path of an image
     */
    public static String encode(List<OutputColumn> columns, Set<String> images) {
        ObjectNode root = JSON.objectNode();
        ObjectNode features = root.putObject("info").putObject("features");
        for (OutputColumn column : columns) {
            features.set(
                    column.name(),
                    images.contains(column.name()) ? JSON.objectNode().put(TYPE, "Image") : feature(column));
        }
        return root.toString();
    }

    private static ObjectNode feature(OutputColumn column) {
        if (column.classes().isEmpty()) {
            return feature(column.type());
        }
        ObjectNode label = JSON.objectNode();
        column.classes().forEach(label.putArray("names")::add);
        return label.put(TYPE, "ClassLabel");
    }

    private static ObjectNode feature(FieldType type) {
        if (type instanceof ListType list) {
            return listOf(list.item());
        }
        if (type instanceof TensorType tensor) {
            return listOf(tensor.element());
        }
        return JSON.objectNode().put("dtype", dtype(type)).put(TYPE, "Value");
    }

    /** The name that all releases of the library understand. */
    private static ObjectNode listOf(FieldType item) {
        ObjectNode list = JSON.objectNode();
        list.set("feature", feature(item));
        return list.put(TYPE, "Sequence");
    }

    private static String dtype(FieldType type) {
        if (type instanceof DecimalType decimal) {
            return "decimal128(" + decimal.precision() + ", " + decimal.scale() + ")";
        }
        if (type instanceof TimestampType timestamp) {
            return "timestamp[" + unit(timestamp.unit()) + (timestamp.zone().isPresent() ? ", tz=UTC]" : "]");
        }
        if (type instanceof TimeType time) {
            String unit = unit(time.unit());
            return (unit.equals("ms") ? "time32[" : "time64[") + unit + "]";
        }
        return switch ((ScalarType) type) {
            case UTF8, CATEGORICAL -> "string";
            case BFLOAT16 -> "float32";
            case DATE -> "date32";
            default -> type.canonical();
        };
    }

    /** Parquet has no seconds. */
    private static String unit(TimeResolution unit) {
        return switch (unit) {
            case NANOSECONDS -> "ns";
            case MICROSECONDS -> "us";
            default -> "ms";
        };
    }
}

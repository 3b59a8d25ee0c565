package dev.stoker.formats.avro;

import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;

/** Describes columns as Avro types. */
final class AvroOutputTypes {
    private static final Pattern SYMBOL = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    private AvroOutputTypes() {}

    /** Returns whether no Avro type holds all values: 64 bits without sign, nanoseconds of a day. */
    static boolean isRefused(FieldType type) {
        if (type instanceof ListType list) {
            return isRefused(list.item());
        }
        if (type instanceof TensorType tensor) {
            return tensor.element() == ScalarType.UINT64;
        }
        return type == ScalarType.UINT64
                || (type instanceof TimeType time && time.unit() == TimeResolution.NANOSECONDS);
    }

    /** Returns the schema of a file. A nullable column is a union of null and its type. */
    static Schema record(OutputTable table) {
        List<Schema.Field> fields = new ArrayList<>();
        for (OutputColumn column : table.columns()) {
            Schema value = value(column);
            Schema type = column.nullable() ? Schema.createUnion(Schema.create(Schema.Type.NULL), value) : value;
            fields.add(new Schema.Field(column.name(), type));
        }
        return Schema.createRecord("sample", null, "stoker", false, fields);
    }

    /** Returns the type of the values that are not null. */
    static Schema value(OutputColumn column) {
        if (isEnum(column)) {
            return Schema.createEnum(column.name() + "_class", null, "stoker", column.classes());
        }
        return value(column.type());
    }

    /** Returns whether the classes of a column can be the symbols of an enum. */
    static boolean isEnum(OutputColumn column) {
        return column.type() == ScalarType.CATEGORICAL
                && !column.classes().isEmpty()
                && column.classes().stream()
                        .allMatch(name -> SYMBOL.matcher(name).matches());
    }

    private static Schema value(FieldType type) {
        if (type instanceof ListType list) {
            Schema item = value(list.item());
            return Schema.createArray(
                    list.nullItems() ? Schema.createUnion(Schema.create(Schema.Type.NULL), item) : item);
        }
        if (type instanceof TensorType tensor) {
            return Schema.createArray(value(tensor.element()));
        }
        if (type instanceof DecimalType decimal) {
            return LogicalTypes.decimal(decimal.precision(), decimal.scale())
                    .addToSchema(Schema.create(Schema.Type.BYTES));
        }
        if (type instanceof TimeType time) {
            return time.unit() == TimeResolution.MICROSECONDS
                    ? LogicalTypes.timeMicros().addToSchema(Schema.create(Schema.Type.LONG))
                    : LogicalTypes.timeMillis().addToSchema(Schema.create(Schema.Type.INT));
        }
        if (type instanceof TimestampType timestamp) {
            return timestamp(timestamp).addToSchema(Schema.create(Schema.Type.LONG));
        }
        return scalar((ScalarType) type);
    }

    private static LogicalType timestamp(TimestampType type) {
        boolean isLocal = type.zone().isEmpty();
        return switch (type.unit()) {
            case MICROSECONDS -> isLocal ? LogicalTypes.localTimestampMicros() : LogicalTypes.timestampMicros();
            case NANOSECONDS -> isLocal ? LogicalTypes.localTimestampNanos() : LogicalTypes.timestampNanos();
            default -> isLocal ? LogicalTypes.localTimestampMillis() : LogicalTypes.timestampMillis();
        };
    }

    private static Schema scalar(ScalarType type) {
        return switch (type) {
            case BOOL -> Schema.create(Schema.Type.BOOLEAN);
            case INT8, UINT8, INT16, UINT16, INT32 -> Schema.create(Schema.Type.INT);
            case UINT32, INT64, UINT64 -> Schema.create(Schema.Type.LONG);
            case FLOAT16, BFLOAT16, FLOAT32 -> Schema.create(Schema.Type.FLOAT);
            case FLOAT64 -> Schema.create(Schema.Type.DOUBLE);
            case UTF8, CATEGORICAL -> Schema.create(Schema.Type.STRING);
            case BINARY -> Schema.create(Schema.Type.BYTES);
            case DATE -> LogicalTypes.date().addToSchema(Schema.create(Schema.Type.INT));
        };
    }
}

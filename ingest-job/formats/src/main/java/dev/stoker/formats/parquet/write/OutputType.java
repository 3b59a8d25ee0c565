package dev.stoker.formats.parquet.write;

import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Type.Repetition;
import org.apache.parquet.schema.Types;
import org.apache.parquet.schema.Types.GroupBuilder;
import org.jspecify.annotations.Nullable;

/**
 * How the values of a field type are stored: the physical type, its annotation, and the number of lists around it.
 *
 * @param primitive physical type of the values
 * @param length bytes of a fixed-length value, otherwise 0
 * @param annotation meaning of the values, or null
 * @param lists number of lists around a value: 0, 1 or 2
 * @param items repetition of the items of a list; optional if they may be null, and in tensors, although none is null,
 *     because Arrow's type of tensors requires it
 */
record OutputType(
        PrimitiveTypeName primitive,
        int length,
        @Nullable LogicalTypeAnnotation annotation,
        int lists,
        Repetition items) {
    /** Fields of the struct of a file. */
    static final String BYTES = "bytes";

    static final String PATH = "path";

    static OutputType of(FieldType type) {
        if (type instanceof ListType list) {
            return list.nullItems() ? inOptional(of(list.item())) : inList(of(list.item()));
        }
        if (type instanceof TensorType tensor) {
            return inOptional(of(tensor.element()));
        }
        if (type instanceof DecimalType decimal) {
            return decimal(decimal);
        }
        if (type instanceof TimestampType timestamp) {
            boolean isAdjusted = timestamp.zone().isPresent();
            return plain(
                    PrimitiveTypeName.INT64,
                    LogicalTypeAnnotation.timestampType(isAdjusted, unit(stored(timestamp.unit()))));
        }
        if (type instanceof TimeType time) {
            TimeResolution unit = stored(time.unit());
            return plain(
                    unit == TimeResolution.MILLISECONDS ? PrimitiveTypeName.INT32 : PrimitiveTypeName.INT64,
                    LogicalTypeAnnotation.timeType(false, unit(unit)));
        }
        return scalar((ScalarType) type);
    }

    private static OutputType scalar(ScalarType type) {
        return switch (type) {
            case BOOL -> plain(PrimitiveTypeName.BOOLEAN, null);
            case INT8, INT16 -> plain(PrimitiveTypeName.INT32, LogicalTypeAnnotation.intType(8 * type.width(), true));
            case UINT8, UINT16, UINT32 ->
                plain(PrimitiveTypeName.INT32, LogicalTypeAnnotation.intType(8 * type.width(), false));
            case INT32 -> plain(PrimitiveTypeName.INT32, null);
            case INT64 -> plain(PrimitiveTypeName.INT64, null);
            case UINT64 -> plain(PrimitiveTypeName.INT64, LogicalTypeAnnotation.intType(64, false));
            case FLOAT16 ->
                new OutputType(
                        PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY,
                        2,
                        LogicalTypeAnnotation.float16Type(),
                        0,
                        Repetition.REQUIRED);
            case BFLOAT16, FLOAT32 -> plain(PrimitiveTypeName.FLOAT, null);
            case FLOAT64 -> plain(PrimitiveTypeName.DOUBLE, null);
            case UTF8, CATEGORICAL -> plain(PrimitiveTypeName.BINARY, LogicalTypeAnnotation.stringType());
            case BINARY -> plain(PrimitiveTypeName.BINARY, null);
            case DATE -> plain(PrimitiveTypeName.INT32, LogicalTypeAnnotation.dateType());
        };
    }

    private static OutputType decimal(DecimalType type) {
        LogicalTypeAnnotation annotation = LogicalTypeAnnotation.decimalType(type.scale(), type.precision());
        if (type.precision() <= 9) {
            return plain(PrimitiveTypeName.INT32, annotation);
        }
        return type.precision() <= 18
                ? plain(PrimitiveTypeName.INT64, annotation)
                : new OutputType(
                        PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY, DecimalType.WIDTH, annotation, 0, Repetition.REQUIRED);
    }

    private static OutputType plain(PrimitiveTypeName primitive, @Nullable LogicalTypeAnnotation annotation) {
        return new OutputType(primitive, 0, annotation, 0, Repetition.REQUIRED);
    }

    /** Returns the same with items that may be null, as Arrow's writers store all lists. */
    OutputType withOptionalItems() {
        return new OutputType(primitive, length, annotation, lists, Repetition.OPTIONAL);
    }

    private static OutputType inOptional(OutputType item) {
        return new OutputType(item.primitive, item.length, item.annotation, 1, Repetition.OPTIONAL);
    }

    private static OutputType inList(OutputType item) {
        return new OutputType(item.primitive, item.length, item.annotation, item.lists + 1, Repetition.REQUIRED);
    }

    /** Returns the unit in the file: Parquet has no seconds. */
    static TimeResolution stored(TimeResolution unit) {
        return unit == TimeResolution.SECONDS ? TimeResolution.MILLISECONDS : unit;
    }

    private static TimeUnit unit(TimeResolution unit) {
        return switch (unit) {
            case NANOSECONDS -> TimeUnit.NANOS;
            case MICROSECONDS -> TimeUnit.MICROS;
            default -> TimeUnit.MILLIS;
        };
    }

    /** Returns the column of the schema. */
    Type column(String name, boolean nullable) {
        return column(name, nullable ? Repetition.OPTIONAL : Repetition.REQUIRED, lists);
    }

    /** Returns a column of structs of bytes and path, both optional, or with one of them only. */
    static Type file(String name, boolean bytes, boolean path) {
        GroupBuilder<GroupType> struct = Types.buildGroup(Repetition.OPTIONAL);
        if (bytes) {
            struct = struct.addField(plain(PrimitiveTypeName.BINARY, null).column(BYTES, true));
        }
        if (path) {
            struct = struct.addField(plain(PrimitiveTypeName.BINARY, LogicalTypeAnnotation.stringType())
                    .column(PATH, true));
        }
        return struct.named(name);
    }

    private Type column(String name, Repetition repetition, int depth) {
        if (depth == 0) {
            PrimitiveType plain = length == 0
                    ? Types.primitive(primitive, repetition).named(name)
                    : Types.primitive(primitive, repetition).length(length).named(name);
            return annotation == null
                    ? plain
                    : Types.primitive(primitive, repetition)
                            .length(length)
                            .as(annotation)
                            .named(name);
        }
        return Types.buildGroup(repetition)
                .as(LogicalTypeAnnotation.listType())
                .addField(Types.repeatedGroup()
                        .addField(column("element", items, depth - 1))
                        .named("list"))
                .named(name);
    }

    @Override
    public String toString() {
        String item = primitive + (annotation == null ? "" : " " + annotation);
        return "LIST of ".repeat(lists) + item;
    }
}

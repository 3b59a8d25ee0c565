package dev.stoker.sql.types;

import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.types.DataType;

/**
 * The SQL types of fields. No value is rounded: unsigned integers have the next larger type, and times of day that are
 * finer than milliseconds, which Flink cannot hold, are their units as a number. A tensor is one array in row-major
 * order. Normative: {@code docs/sql.md}.
 */
public final class SqlTypes {

    private SqlTypes() {}

    /** Returns the type of a field. */
    public static DataType of(Field field) {
        DataType type = of(field.type());
        return field.nullable() ? type : type.notNull();
    }

    /** Returns the type of the key. */
    public static DataType key() {
        return DataTypes.STRING().notNull();
    }

    /** Returns the nullable type of values. */
    public static DataType of(FieldType type) {
        if (type instanceof ScalarType scalar) {
            return of(scalar);
        }
        if (type instanceof ListType list) {
            DataType item = of(list.item());
            return DataTypes.ARRAY(list.nullItems() ? item : item.notNull());
        }
        if (type instanceof TensorType tensor) {
            return DataTypes.ARRAY(of(tensor.element()).notNull());
        }
        if (type instanceof DecimalType decimal) {
            return DataTypes.DECIMAL(decimal.precision(), decimal.scale());
        }
        if (type instanceof TimestampType timestamp) {
            int digits = digits(timestamp.unit());
            return timestamp.zone().isPresent()
                    ? DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(digits)
                    : DataTypes.TIMESTAMP(digits);
        }
        if (type instanceof TimeType time) {
            return isTime(time) ? DataTypes.TIME(digits(time.unit())) : DataTypes.BIGINT();
        }
        throw new IllegalArgumentException("The type " + type + " does not exist in SQL");
    }

    private static DataType of(ScalarType type) {
        return switch (type) {
            case BOOL -> DataTypes.BOOLEAN();
            case INT8 -> DataTypes.TINYINT();
            case INT16, UINT8 -> DataTypes.SMALLINT();
            case INT32, UINT16 -> DataTypes.INT();
            case INT64, UINT32 -> DataTypes.BIGINT();
            case UINT64 -> DataTypes.DECIMAL(20, 0);
            case FLOAT16, BFLOAT16, FLOAT32 -> DataTypes.FLOAT();
            case FLOAT64 -> DataTypes.DOUBLE();
            case UTF8, CATEGORICAL -> DataTypes.STRING();
            case BINARY -> DataTypes.BYTES();
            case DATE -> DataTypes.DATE();
        };
    }

    /** Returns whether Flink's times of day, which are milliseconds, can hold the values. */
    static boolean isTime(TimeType type) {
        return type.unit().compareTo(TimeResolution.MILLISECONDS) <= 0;
    }

    static int digits(TimeResolution unit) {
        return switch (unit) {
            case SECONDS -> 0;
            case MILLISECONDS -> 3;
            case MICROSECONDS -> 6;
            case NANOSECONDS -> 9;
        };
    }
}

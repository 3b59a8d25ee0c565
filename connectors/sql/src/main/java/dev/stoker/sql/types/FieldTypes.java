package dev.stoker.sql.types;

import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/** The types of the fields of a dataset that a statement creates. Stateless. */
public final class FieldTypes {

    private FieldTypes() {}

    /**
     * Returns the type of the field of a column.
     *
     * @throws IllegalArgumentException if a dataset does not hold such values
     */
    public static FieldType of(LogicalType type) {
        return switch (type.getTypeRoot()) {
            case BOOLEAN -> ScalarType.BOOL;
            case TINYINT -> ScalarType.INT8;
            case SMALLINT -> ScalarType.INT16;
            case INTEGER -> ScalarType.INT32;
            case BIGINT -> ScalarType.INT64;
            case FLOAT -> ScalarType.FLOAT32;
            case DOUBLE -> ScalarType.FLOAT64;
            case CHAR, VARCHAR -> ScalarType.UTF8;
            case BINARY, VARBINARY -> ScalarType.BINARY;
            case DATE -> ScalarType.DATE;
            case DECIMAL -> new DecimalType(LogicalTypeChecks.getPrecision(type), LogicalTypeChecks.getScale(type));
            case TIMESTAMP_WITHOUT_TIME_ZONE -> TimestampType.local(unit(LogicalTypeChecks.getPrecision(type)));
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
                TimestampType.zoned(unit(LogicalTypeChecks.getPrecision(type)), "UTC");
            case TIME_WITHOUT_TIME_ZONE -> new TimeType(time(LogicalTypeChecks.getPrecision(type)));
            case ARRAY -> list(((ArrayType) type).getElementType());
            default ->
                throw new IllegalArgumentException(
                        "a dataset has no fields of type " + type.copy(true) + "; cast it, or select its parts");
        };
    }

    private static FieldType list(LogicalType element) {
        return new ListType(of(element));
    }

    private static TimeResolution unit(int digits) {
        return digits == 0
                ? TimeResolution.SECONDS
                : digits <= 3
                        ? TimeResolution.MILLISECONDS
                        : digits <= 6 ? TimeResolution.MICROSECONDS : TimeResolution.NANOSECONDS;
    }

    private static TimeResolution time(int digits) {
        if (digits > 3) {
            throw new IllegalArgumentException(
                    "Flink keeps times of day in milliseconds; declare the column as TIME(3) or TIME(0)");
        }
        return digits == 0 ? TimeResolution.SECONDS : TimeResolution.MILLISECONDS;
    }
}

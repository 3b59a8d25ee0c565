package dev.stoker.formats.parquet.column;

import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.util.Locale;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.EnumLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.Float16LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntervalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.JsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UUIDLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UnknownLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.jspecify.annotations.Nullable;

/** Says which field type holds the values of a Parquet type. The table is in {@code docs/formats/conversion.md}. */
public final class ParquetTypes {
    private static final int MAX_PRECISION = 38;
    private static final long ALL_BITS = -1;
    private static final long INT_BITS = 0xffffffffL;

    private ParquetTypes() {}

    /** Thrown when no field type holds the values. The message is a clause. */
    public static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1L;

        public RefusedException(String message) {
            super(message);
        }
    }

    /** Returns the type in the words of Parquet. */
    public static String describe(PrimitiveType type) {
        String physical = type.getPrimitiveTypeName() == PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY
                ? "FIXED_LEN_BYTE_ARRAY(" + type.getTypeLength() + ")"
                : type.getPrimitiveTypeName().name();
        LogicalTypeAnnotation logical = type.getLogicalTypeAnnotation();
        return logical == null ? physical : physical + " " + logical;
    }

    public static Scalar.Mapping map(PrimitiveType type) throws RefusedException {
        LogicalTypeAnnotation logical = type.getLogicalTypeAnnotation();
        if (logical instanceof UnknownLogicalTypeAnnotation) {
            throw new RefusedException("all its values are null");
        }
        if (logical instanceof IntervalLogicalTypeAnnotation) {
            throw new RefusedException("intervals cannot be stored; write it as a number");
        }
        return switch (type.getPrimitiveTypeName()) {
            case BOOLEAN -> new Scalar.Mapping(ScalarType.BOOL, ScalarType.UINT8, () -> new Scalars.Integers(ALL_BITS));
            case INT32 -> int32(logical);
            case INT64 -> int64(logical);
            case FLOAT -> number(ScalarType.FLOAT32, Scalars.Floats::new);
            case DOUBLE -> number(ScalarType.FLOAT64, Scalars.Floats::new);
            case INT96 -> single("timestamp[ns]", Scalars.Int96::new);
            case BINARY -> binary(logical);
            case FIXED_LEN_BYTE_ARRAY -> fixed(type, logical);
        };
    }

    private static Scalar.Mapping int32(@Nullable LogicalTypeAnnotation logical) throws RefusedException {
        if (logical instanceof IntLogicalTypeAnnotation integer) {
            return integer(integer);
        }
        if (logical instanceof DateLogicalTypeAnnotation) {
            return single("date", () -> new Scalars.Integers(ALL_BITS));
        }
        return int64(logical, ScalarType.INT32);
    }

    private static Scalar.Mapping int64(@Nullable LogicalTypeAnnotation logical) throws RefusedException {
        if (logical instanceof IntLogicalTypeAnnotation integer) {
            return integer(integer);
        }
        if (logical instanceof TimestampLogicalTypeAnnotation timestamp) {
            String zone = timestamp.isAdjustedToUTC() ? ",UTC" : "";
            return single("timestamp[" + unit(timestamp.getUnit()) + zone + "]", () -> new Scalars.Integers(ALL_BITS));
        }
        return int64(logical, ScalarType.INT64);
    }

    private static Scalar.Mapping int64(@Nullable LogicalTypeAnnotation logical, ScalarType plain)
            throws RefusedException {
        if (logical instanceof TimeLogicalTypeAnnotation time) {
            return single("time[" + unit(time.getUnit()) + "]", () -> new Scalars.Integers(ALL_BITS));
        }
        if (logical instanceof DecimalLogicalTypeAnnotation decimal) {
            return new Scalar.Mapping(decimal(decimal), null, () -> new Scalars.SmallDecimals(decimal.getScale()));
        }
        return number(plain, () -> new Scalars.Integers(ALL_BITS));
    }

    private static Scalar.Mapping integer(IntLogicalTypeAnnotation type) {
        String name = (type.isSigned() ? "int" : "uint") + type.getBitWidth();
        long mask = name.equals("uint32") ? INT_BITS : ALL_BITS;
        return number(ScalarType.valueOf(name.toUpperCase(Locale.ROOT)), () -> new Scalars.Integers(mask));
    }

    private static Scalar.Mapping binary(@Nullable LogicalTypeAnnotation logical) throws RefusedException {
        if (logical instanceof StringLogicalTypeAnnotation
                || logical instanceof EnumLogicalTypeAnnotation
                || logical instanceof JsonLogicalTypeAnnotation) {
            return number(ScalarType.UTF8, Scalars.Bytes::new);
        }
        if (logical instanceof DecimalLogicalTypeAnnotation decimal) {
            return bigDecimal(decimal);
        }
        // Without a type, BSON, and the WKB of geometries.
        return number(ScalarType.BINARY, Scalars.Bytes::new);
    }

    private static Scalar.Mapping fixed(PrimitiveType type, @Nullable LogicalTypeAnnotation logical)
            throws RefusedException {
        if (logical instanceof DecimalLogicalTypeAnnotation decimal) {
            return bigDecimal(decimal);
        }
        if (logical instanceof UUIDLogicalTypeAnnotation && type.getTypeLength() == 16) {
            return number(ScalarType.UTF8, Scalars.Uuids::new);
        }
        if (logical instanceof Float16LogicalTypeAnnotation && type.getTypeLength() == 2) {
            return number(ScalarType.FLOAT16, Scalars.Halves::new);
        }
        return number(ScalarType.BINARY, Scalars.Bytes::new);
    }

    private static Scalar.Mapping bigDecimal(DecimalLogicalTypeAnnotation decimal) throws RefusedException {
        return new Scalar.Mapping(decimal(decimal), null, () -> new Scalars.BigDecimals(decimal.getScale()));
    }

    private static FieldType decimal(DecimalLogicalTypeAnnotation decimal) throws RefusedException {
        if (decimal.getPrecision() > MAX_PRECISION) {
            throw new RefusedException(
                    "decimals with more than 38 digits cannot be stored; write it with fewer" + " digits or as text");
        }
        return parse("decimal(" + decimal.getPrecision() + "," + decimal.getScale() + ")");
    }

    private static String unit(TimeUnit unit) {
        return switch (unit) {
            case MILLIS -> "ms";
            case MICROS -> "us";
            case NANOS -> "ns";
        };
    }

    private static Scalar.Mapping number(ScalarType type, Scalar.Maker maker) {
        return new Scalar.Mapping(type, type, maker);
    }

    private static Scalar.Mapping single(String type, Scalar.Maker maker) throws RefusedException {
        return new Scalar.Mapping(parse(type), null, maker);
    }

    private static FieldType parse(String type) throws RefusedException {
        try {
            return FieldType.parse(type);
        } catch (IllegalArgumentException e) {
            throw new RefusedException(e.getMessage() + "");
        }
    }
}

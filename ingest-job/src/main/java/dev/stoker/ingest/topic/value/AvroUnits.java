package dev.stoker.ingest.topic.value;

import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Optional;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Converts the numbers of an Avro field with a logical type to the unit or scale of a dataset's field, without
 * rounding. Numbers without a logical type are in the unit of the dataset's field.
 *
 * @param avro the type that {@link AvroFields} derives from the logical type; empty without a logical type
 * @param wanted the type of the dataset's field
 */
record AvroUnits(Optional<FieldType> avro, FieldType wanted) {

    static AvroUnits of(Schema schema, FieldType wanted) {
        Schema value = AvroFields.withoutNull(schema);
        boolean isLogical = value.getLogicalType() != null;
        return new AvroUnits(
                isLogical ? AvroFields.logical(value.getLogicalType()).map(FieldType::parse) : Optional.empty(),
                wanted);
    }

    /** @throws IllegalArgumentException if the logical type is of another kind, or the value would be rounded */
    long time(long value) {
        if (avro.isEmpty() || avro.get().equals(wanted)) {
            return value;
        }
        TimeResolution from = unit(avro.get());
        TimeResolution to = unit(wanted);
        if (from == null || to == null || !isSameKind(avro.get(), wanted)) {
            throw new IllegalArgumentException("an Avro field of type " + avro.get() + " does not fit into " + wanted);
        }
        try {
            return to.compareTo(from) >= 0
                    ? Math.multiplyExact(value, to.perSecond() / from.perSecond())
                    : exactly(value, from.perSecond() / to.perSecond());
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(
                    value + " " + from.canonical() + " does not fit into " + wanted + " without rounding", e);
        }
    }

    private static long exactly(long value, long divisor) {
        if (value % divisor != 0) {
            throw new ArithmeticException("it has a fraction");
        }
        return value / divisor;
    }

    private static @Nullable TimeResolution unit(FieldType type) {
        if (type instanceof TimestampType timestamp) {
            return timestamp.unit();
        }
        return type instanceof TimeType time ? time.unit() : null;
    }

    private static boolean isSameKind(FieldType a, FieldType b) {
        if (a instanceof TimestampType one && b instanceof TimestampType other) {
            return one.zone().isPresent() == other.zone().isPresent();
        }
        return a instanceof TimeType && b instanceof TimeType;
    }

    /** The number of an unscaled decimal, big-endian. */
    BigDecimal decimal(byte[] unscaled) {
        if (unscaled.length == 0) {
            throw new IllegalArgumentException("a decimal number has no bytes");
        }
        FieldType type = avro.orElse(wanted);
        if (!(type instanceof DecimalType decimal)) {
            throw new IllegalArgumentException("an Avro field of type " + type + " does not fit into " + wanted);
        }
        return new BigDecimal(new BigInteger(unscaled), decimal.scale());
    }
}

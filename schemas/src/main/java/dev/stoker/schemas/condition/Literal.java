package dev.stoker.schemas.condition;

import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A value to compare with the values of a column. Numbers, dates, times and timestamps compare as numbers, text and
 * bytes as unsigned bytes.
 */
public final class Literal {
    private static final BigDecimal MIN_LONG = BigDecimal.valueOf(Long.MIN_VALUE);
    private static final BigDecimal MAX_LONG = BigDecimal.valueOf(Long.MAX_VALUE);
    private static final BigInteger NANOS_PER_SECOND = BigInteger.valueOf(1_000_000_000);

    private final String text;
    private final @Nullable BigDecimal number;
    private final double real;
    private final boolean isLong;
    private final long integer;
    private final boolean unsigned;
    private final @Nullable ByteBuffer bytes;

    private Literal(String text, @Nullable BigDecimal number, double real, boolean unsigned, byte @Nullable [] bytes) {
        this.text = text;
        this.number = number;
        this.real = real;
        this.unsigned = unsigned;
        this.bytes = bytes == null ? null : ByteBuffer.wrap(bytes);
        isLong = number != null
                && number.compareTo(MIN_LONG) >= 0
                && number.compareTo(MAX_LONG) <= 0
                && number.stripTrailingZeros().scale() <= 0;
        integer = isLong ? Objects.requireNonNull(number, "a long is a number").longValueExact() : 0;
    }

    /**
     * Parses a literal for a column of a type: a number, {@code true} or {@code false}, an ISO 8601 date, time or
     * timestamp (without an offset it is UTC), or text.
     *
     * @throws IllegalArgumentException if the text does not fit the type, or values of the type do not compare
     */
    public static Literal of(FieldType type, String text) {
        String name = type.canonical();
        if (type == ScalarType.UTF8 || type == ScalarType.CATEGORICAL || type == ScalarType.BINARY) {
            return new Literal(text, null, 0, false, text.getBytes(StandardCharsets.UTF_8));
        }
        if (name.indexOf(']') == name.length() - 1 && name.indexOf('[') > 0 && !name.startsWith("time")) {
            throw new IllegalArgumentException("values of type " + name + " cannot be compared");
        }
        try {
            BigDecimal number = number(type, name, text.strip());
            double real = type == ScalarType.FLOAT32 ? number.floatValue() : number.doubleValue();
            return new Literal(text, number, real, type == ScalarType.UINT64, null);
        } catch (DateTimeException | ArithmeticException | NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is no value of type " + name, e);
        }
    }

    private static BigDecimal number(FieldType type, String name, String text) {
        if (type == ScalarType.BOOL) {
            return switch (text.toLowerCase(Locale.ROOT)) {
                case "true", "1" -> BigDecimal.ONE;
                case "false", "0" -> BigDecimal.ZERO;
                default -> throw new NumberFormatException(text);
            };
        }
        if (name.equals("date")) {
            return BigDecimal.valueOf(LocalDate.parse(text).toEpochDay());
        }
        if (name.startsWith("timestamp[")) {
            return scaled(nanos(text), name);
        }
        if (name.startsWith("time[")) {
            return scaled(BigInteger.valueOf(LocalTime.parse(text).toNanoOfDay()), name);
        }
        if (text.length() > 400) {
            throw new NumberFormatException(text);
        }
        return new BigDecimal(text);
    }

    private static BigInteger nanos(String text) {
        String iso = text.replace(' ', 'T');
        Instant instant;
        if (iso.indexOf('T') < 0) {
            instant = LocalDate.parse(iso).atStartOfDay().toInstant(ZoneOffset.UTC);
        } else if (iso.endsWith("Z") || iso.lastIndexOf('+') > 0 || iso.lastIndexOf('-') > iso.indexOf('T')) {
            instant = OffsetDateTime.parse(iso).toInstant();
        } else {
            instant = LocalDateTime.parse(iso).toInstant(ZoneOffset.UTC);
        }
        return BigInteger.valueOf(instant.getEpochSecond())
                .multiply(NANOS_PER_SECOND)
                .add(BigInteger.valueOf(instant.getNano()));
    }

    private static BigDecimal scaled(BigInteger nanos, String name) {
        String unit = name.substring(name.indexOf('[') + 1).replaceAll("[^a-z].*", "");
        long perUnit = switch (unit) {
            case "s" -> Duration.ofSeconds(1).toNanos();
            case "ms" -> 1_000_000;
            case "us" -> 1000;
            default -> 1;
        };
        return new BigDecimal(nanos).divide(BigDecimal.valueOf(perUnit));
    }

    /**
     * Compares a whole number with this.
     *
     * @param value a number, date, time or timestamp in the unit of the column; the bits of a uint64; 1 or 0 for a bool
     */
    public int compare(long value) {
        if (isLong && !(unsigned && (value < 0 || integer < 0))) {
            return Long.compare(value, integer);
        }
        if (number == null) {
            throw wrong();
        }
        BigDecimal exact = unsigned ? new BigDecimal(Long.toUnsignedString(value)) : BigDecimal.valueOf(value);
        return exact.compareTo(number);
    }

    /** Compares a float, not NaN, with this. Both zeros are equal. */
    public int compare(double value) {
        if (number == null) {
            throw wrong();
        }
        return value < real ? -1 : value > real ? 1 : 0;
    }

    /** Compares a decimal with this. */
    public int compare(BigDecimal value) {
        if (number == null) {
            throw wrong();
        }
        return value.compareTo(number);
    }

    /** Compares bytes, or the UTF-8 of a text, with this. */
    public int compare(ByteBuffer value) {
        if (bytes == null) {
            throw wrong();
        }
        int mismatch = value.mismatch(bytes);
        if (mismatch < 0) {
            return 0;
        }
        if (mismatch >= value.remaining() || mismatch >= bytes.remaining()) {
            return Integer.compare(value.remaining(), bytes.remaining());
        }
        return Integer.compare(value.get(value.position() + mismatch) & 0xff, bytes.get(mismatch) & 0xff);
    }

    private IllegalStateException wrong() {
        return new IllegalStateException("'" + text + "' was made for another type");
    }

    @Override
    public String toString() {
        return text;
    }
}

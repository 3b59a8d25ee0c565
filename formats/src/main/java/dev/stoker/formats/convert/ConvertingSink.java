package dev.stoker.formats.convert;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.arrow.HalfFloats;
import dev.stoker.schemas.arrow.ScalarType;
import dev.stoker.schemas.arrow.TimeResolution;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Takes values of one type and gives them to another sink as values of another type. For one thread. */
final class ConvertingSink implements ValueSink {
    private final FieldType from;
    private final FieldType to;
    private final @Nullable ScalarType element;
    private final @Nullable ScalarType target;
    private @Nullable ValueSink sink;

    /** The conversion must be possible. */
    ConvertingSink(FieldType from, FieldType to) {
        this.from = from;
        this.to = to;
        element = Conversion.element(from).orElse(null);
        target = Conversion.element(to).orElse(null);
    }

    ConvertingSink to(ValueSink next) {
        sink = next;
        return this;
    }

    private ValueSink sink() {
        return Objects.requireNonNull(sink, "to() was called");
    }

    @Override
    public void setNull() throws BadValueException {
        sink().setNull();
    }

    @Override
    public void setLong(long value) throws BadValueException {
        TimeResolution unit = Conversion.unit(from);
        TimeResolution wanted = Conversion.unit(to);
        if (unit != null && wanted != null) {
            sink().setLong(inUnit(value, unit, wanted));
        } else if (from instanceof ScalarType source && to instanceof ScalarType type && type.isNumber()) {
            integer(value, source, type);
        } else {
            sink().setLong(value);
        }
    }

    private void integer(long value, ScalarType source, ScalarType type) throws BadValueException {
        boolean isUnsigned = source == ScalarType.UINT64;
        if (type.isFloat()) {
            double real = isUnsigned && value < 0 ? 2.0 * (value >>> 1) : (double) value;
            if (!isExact(value, isUnsigned, rounded(real, type))) {
                throw new BadValueException((isUnsigned ? Long.toUnsignedString(value) : Long.toString(value))
                        + " is not exactly a " + type);
            }
            sink().setDouble(real);
        } else if (value < 0 && (isUnsigned || type == ScalarType.UINT64)) {
            throw new BadValueException(
                    (isUnsigned ? Long.toUnsignedString(value) : Long.toString(value)) + " does not fit into " + type);
        } else {
            sink().setLong(value);
        }
    }

    private static boolean isExact(long value, boolean isUnsigned, double real) {
        if (Math.abs(real) < 0x1p62) {
            return (long) real == value;
        }
        String exact = isUnsigned ? Long.toUnsignedString(value) : Long.toString(value);
        return new BigDecimal(exact).compareTo(new BigDecimal(real)) == 0;
    }

    /** Returns the nearest value of a type, or the largest finite one. */
    private static double rounded(double value, ScalarType type) {
        double near = switch (type) {
            case FLOAT16 -> HalfFloats.fromFloat16(HalfFloats.float16(value));
            case BFLOAT16 -> HalfFloats.fromBfloat16(HalfFloats.bfloat16(value));
            case FLOAT32 -> (float) value;
            default -> value;
        };
        return Double.isInfinite(near) ? Math.copySign(Double.MAX_VALUE, near) : near;
    }

    private long inUnit(long value, TimeResolution unit, TimeResolution wanted) throws BadValueException {
        if (wanted.perSecond() >= unit.perSecond()) {
            long factor = wanted.perSecond() / unit.perSecond();
            try {
                return Math.multiplyExact(value, factor);
            } catch (ArithmeticException e) {
                throw new BadValueException(value + " as " + from + " does not fit into " + to);
            }
        }
        long divisor = unit.perSecond() / wanted.perSecond();
        if (value % divisor != 0) {
            throw new BadValueException(value + " as " + from + " has a fraction that " + to + " does not hold");
        }
        return value / divisor;
    }

    @Override
    public void setInstant(long day, long nanos) throws BadValueException {
        TimeResolution wanted = Conversion.unit(to);
        if (wanted == null) {
            ValueSink.super.setInstant(day, nanos);
            return;
        }
        long divisor = TimeResolution.NANOSECONDS.perSecond() / wanted.perSecond();
        if (nanos % divisor != 0) {
            throw new BadValueException(
                    "nanosecond " + nanos + " of its day has a fraction that " + to + " does not hold");
        }
        try {
            sink().setLong(Math.addExact(Math.multiplyExact(day, wanted.perDay()), nanos / divisor));
        } catch (ArithmeticException e) {
            throw new BadValueException("day " + day + " since 1970 does not fit into " + to);
        }
    }

    @Override
    public void setDouble(double value) throws BadValueException {
        sink().setDouble(value);
    }

    @Override
    public void setDecimal(BigDecimal value) throws BadValueException {
        sink().setDecimal(value);
    }

    @Override
    public void setBytes(ByteBuffer bytes) throws BadValueException {
        sink().setBytes(element == null ? bytes : numbers(bytes));
    }

    @Override
    public void setBytesList(List<ByteBuffer> items) throws BadValueException {
        sink().setBytesList(items);
    }

    @Override
    public boolean takesNullItems() {
        return sink().takesNullItems();
    }

    @Override
    public void setItems(List<? extends @Nullable ByteBuffer> items) throws BadValueException {
        List<@Nullable ByteBuffer> wide = new ArrayList<>(items.size());
        for (ByteBuffer item : items) {
            wide.add(item == null || element == null ? item : numbers(item));
        }
        sink().setItems(wide);
    }

    @Override
    public void setLists(ByteBuffer items, int[] lengths) throws BadValueException {
        sink().setLists(numbers(items), lengths);
    }

    /** Returns numbers as the wider type. */
    private ByteBuffer numbers(ByteBuffer bytes) {
        ScalarType source = Objects.requireNonNull(element, "a list of numbers");
        ScalarType type = Objects.requireNonNull(target, "a list of numbers");
        if (source == type) {
            return bytes;
        }
        ByteBuffer in = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer out = ByteBuffer.allocate(in.remaining() / source.width() * type.width())
                .order(ByteOrder.LITTLE_ENDIAN);
        while (in.hasRemaining()) {
            if (source.isInteger()) {
                put(integer(in, source), type, out);
            } else {
                put(real(in, source), type, out);
            }
        }
        return out.flip();
    }

    private static long integer(ByteBuffer in, ScalarType type) {
        boolean isSigned = Conversion.isSigned(type);
        return switch (type.width()) {
            case 1 -> isSigned ? in.get() : in.get() & 0xFF;
            case 2 -> isSigned ? in.getShort() : in.getShort() & 0xFFFF;
            case 4 -> isSigned ? in.getInt() : in.getInt() & 0xFFFFFFFFL;
            default -> in.getLong();
        };
    }

    private static double real(ByteBuffer in, ScalarType type) {
        return switch (type) {
            case FLOAT16 -> HalfFloats.fromFloat16(in.getShort());
            case BFLOAT16 -> HalfFloats.fromBfloat16(in.getShort());
            default -> in.getFloat();
        };
    }

    private static void put(long value, ScalarType type, ByteBuffer out) {
        if (type.isFloat()) {
            put((double) value, type, out);
            return;
        }
        switch (type.width()) {
            case 2 -> out.putShort((short) value);
            case 4 -> out.putInt((int) value);
            default -> out.putLong(value);
        }
    }

    private static void put(double value, ScalarType type, ByteBuffer out) {
        switch (type) {
            case FLOAT16 -> out.putShort(HalfFloats.float16(value));
            case BFLOAT16 -> out.putShort(HalfFloats.bfloat16(value));
            case FLOAT32 -> out.putFloat((float) value);
            default -> out.putDouble(value);
        }
    }
}

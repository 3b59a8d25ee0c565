package dev.stoker.formats.convert;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.values.NumberList;
import dev.stoker.formats.values.Numbers;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.values.NumberBytes;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Takes values of one type and gives them to another sink as values of another type. For one thread. */
public final class ConvertingSink implements ValueSink {
    private final FieldType from;
    private final FieldType to;
    private final @Nullable ScalarType element;
    private final @Nullable ScalarType target;
    private @Nullable ValueSink sink;

    /** Returns a sink, if the values of the one type are read as the other before a field takes them. */
    public static Optional<ConvertingSink> of(FieldType from, FieldType to) {
        return Conversion.of(from, to).isRead() ? Optional.of(new ConvertingSink(from, to)) : Optional.empty();
    }

    /** The conversion must be possible, or the values are lists whose items have the type null. */
    public ConvertingSink(FieldType from, FieldType to) {
        this.from = from;
        this.to = to;
        element = Conversion.element(from).orElse(null);
        target = Conversion.element(to).orElse(null);
    }

    /** Chooses the sink that takes the next value. */
    public ConvertingSink to(ValueSink next) {
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
        } else if (from instanceof ScalarType source && to instanceof DecimalType) {
            sink().setDecimal(new BigDecimal(NumberBytes.text(source, value)));
        } else if (from instanceof ScalarType source && to instanceof ScalarType type) {
            integer(value, source, type);
        } else {
            sink().setLong(value);
        }
    }

    private void integer(long value, ScalarType source, ScalarType type) throws BadValueException {
        boolean isUnsigned = source == ScalarType.UINT64;
        if (type == ScalarType.CATEGORICAL) {
            String name = source == ScalarType.BOOL ? Boolean.toString(value != 0) : Long.toUnsignedString(value);
            sink().setBytes(Utf8.encode(name));
        } else if (type.isFloat()) {
            sink().setDouble(isUnsigned ? Numbers.exactUnsigned(value, type) : Numbers.exact(value, type));
        } else if (value < 0 && (isUnsigned || type == ScalarType.UINT64)) {
            throw new BadValueException(NumberBytes.text(source, value) + " does not fit into " + type);
        } else {
            sink().setLong(value);
        }
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
        if (element != null && !to.hasNullItems() && to.items() != null) {
            // Only lists whose items have the type null are read as other lists, and here there are no items.
            if (to.items() instanceof ScalarType) {
                sink().setBytesList(List.of());
            } else {
                sink().setLists(bytes, new int[0]);
            }
        } else if (element != null && target == null) {
            // The same, for lists of text with null items.
            sink().setBytesList(List.of());
        } else if (element != null) {
            sink().setBytes(numbers(bytes));
        } else if (from == ScalarType.UTF8 && TextValue.isParsed(to)) {
            String text = Utf8.decodeOrNull(bytes);
            if (text == null) {
                throw new BadValueException("the text is not UTF-8");
            }
            TextValue.put(text, to, sink());
        } else {
            sink().setBytes(bytes);
        }
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

    /** Returns numbers as another type, which must hold each of them as a single value. */
    private ByteBuffer numbers(ByteBuffer bytes) throws BadValueException {
        ScalarType source = Objects.requireNonNull(element, "a list of numbers");
        ScalarType type = Objects.requireNonNull(target, "a list of numbers");
        if (source == type) {
            return bytes;
        }
        ByteBuffer in = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        NumberList out = new NumberList(type);
        for (int at = in.position(); at < in.limit(); at += source.width()) {
            if (source.isFloat()) {
                out.add(NumberBytes.floatAt(source, in, at));
            } else {
                add(NumberBytes.integerAt(source, in, at), source, type, out);
            }
        }
        return out.bytes();
    }

    private static void add(long value, ScalarType source, ScalarType type, NumberList out) throws BadValueException {
        if (source == ScalarType.UINT64 && type.isFloat()) {
            out.add(Numbers.exactUnsigned(value, type));
        } else if (source == ScalarType.UINT64 && value < 0) {
            throw new BadValueException(Long.toUnsignedString(value) + " does not fit into " + type);
        } else {
            out.add(value);
        }
    }
}

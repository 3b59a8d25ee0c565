package dev.stoker.formats;

import dev.stoker.schemas.arrow.types.TimeResolution;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes the value of one column of a row. Exactly one method is called, the one that fits the column's type. The sink
 * copies what it keeps. All numbers in buffers are little-endian. Each method throws {@link BadValueException} if the
 * value does not fit.
 */
public interface ValueSink {
    void setNull() throws BadValueException;

    /**
     * Takes an integer, a bool (0 or 1), a date (days since 1970), a time or a timestamp (in the type's unit). The bits
     * of a uint64.
     */
    void setLong(long value) throws BadValueException;

    /**
     * Takes a point in time for a column of type {@code timestamp[ns]}, whose range it may leave.
     *
     * @param day days since 1970
     * @param nanos nanoseconds since the day began
     */
    default void setInstant(long day, long nanos) throws BadValueException {
        try {
            setLong(Math.addExact(Math.multiplyExact(day, TimeResolution.NANOSECONDS.perDay()), nanos));
        } catch (ArithmeticException e) {
            throw new BeyondNanosecondsException(day);
        }
    }

    /** Takes a floating-point number. */
    void setDouble(double value) throws BadValueException;

    /** Takes a decimal. It has at most as many digits after the point as the type. */
    void setDecimal(BigDecimal value) throws BadValueException;

    /**
     * Takes the bytes of text, binary, a list of numbers or a tensor: the remaining bytes of the buffer. Text is UTF-8,
     * which the sink checks. Takes the name of a class for a categorical column.
     */
    void setBytes(ByteBuffer bytes) throws BadValueException;

    /** Takes the items of a list of text or of binary. */
    void setBytesList(List<ByteBuffer> items) throws BadValueException;

    /** Returns whether {@link #setItems} may be called. */
    default boolean takesNullItems() {
        return false;
    }

    /**
     * Takes the items of a list of numbers, of text or of binary of which some are null. The caller has asked {@link
     * #takesNullItems}.
     */
    default void setItems(List<? extends @Nullable ByteBuffer> items) throws BadValueException {
        throw new BadValueException("an item is null");
    }

    /**
     * Takes a list of lists of numbers.
     *
     * @param items the elements of all inner lists, one after the other
     * @param lengths number of elements of each inner list
     */
    void setLists(ByteBuffer items, int[] lengths) throws BadValueException;
}

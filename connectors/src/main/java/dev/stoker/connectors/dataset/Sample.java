package dev.stoker.connectors.dataset;

import dev.stoker.schemas.arrow.types.FieldType;
import java.math.BigDecimal;
import java.nio.ByteBuffer;

/**
 * Provides access to one sample of a dataset. Values are read by the index of the column in the list of columns that
 * the source was built with. The view is valid only during the call that receives it. Not thread-safe.
 */
public interface Sample {

    /** Returns the version of the dataset that is being read. */
    long version();

    /** Returns the permanent number of the sample's chunk in the dataset. */
    long chunk();

    /** Returns the number of the sample's row in its chunk, from 0. */
    int row();

    /** Returns the sample's split. */
    String split();

    /** Returns the type of a column. The key has the type utf8. */
    FieldType type(int column);

    /** Returns whether the value is null. */
    boolean isNull(int column);

    /**
     * Returns an integer or bool (0, 1), the days of a date, or the units of a timestamp or a time of day. Unsigned
     * values of 64 bits keep their bits.
     */
    long longAt(int column);

    /** Returns a floating-point number. */
    double doubleAt(int column);

    /** Returns a decimal number, with the scale of the type. */
    BigDecimal decimalAt(int column);

    /** Returns a text or the name of a class. */
    String stringAt(int column);

    /**
     * Returns a view of the bytes of a text, a byte string, or the little-endian elements of a list or tensor. The view
     * is valid as long as the sample.
     */
    ByteBuffer bytesAt(int column);

    /** Returns the number of items of a nested list, such as {@code utf8[]}, or of a list with null items. */
    int itemCount(int column);

    /** Returns whether an item is null. Only the items of types such as {@code int32?[]} may be null. */
    boolean isNullItem(int column, int item);

    /**
     * Returns a view of the bytes of an item of a nested list, or of a list with null items: a text, a byte string, or
     * little-endian elements.
     */
    ByteBuffer itemAt(int column, int item);
}

package dev.stoker.formats.avro;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.NullInListException;
import dev.stoker.formats.NullItems;
import dev.stoker.formats.NumberWriter;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.ErrorText;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Keeps the value of one column of the row that was decoded. For one thread. */
final class Slot {
    /** Memory of an item of a list besides its bytes. */
    private static final int ITEM_BYTES = 64;

    private enum State {
        NULL,
        BAD,
        NULL_IN_LIST,
        LONG,
        DOUBLE,
        DECIMAL,
        BYTES,
        LIST
    }

    private static final byte[] NOTHING = {};

    private final String name;
    private final int lists;
    private final long maxBytes;
    private final @Nullable NumberWriter numbers;
    private final List<ByteBuffer> items = new ArrayList<>();
    private final BitSet nulls = new BitSet();
    private int[] lengths = new int[16];
    private int innerLists;
    private long itemBytes;

    private State state = State.NULL;
    private String bad = "";
    private long number;
    private double real;
    private BigDecimal decimal = BigDecimal.ZERO;
    private byte[] array = new byte[0];
    private ByteBuffer slice = ByteBuffer.wrap(array);
    private int from;
    private int length;

    /**
     * @param name dotted name of the column
     * @param lists number of lists around a value
     * @param element type of the items of a list; null if there is none
     */
    Slot(String name, int lists, @Nullable ScalarType element, long maxBytes) {
        this.name = name;
        this.lists = lists;
        this.maxBytes = maxBytes;
        if (lists > 0) {
            Objects.requireNonNull(element, "lists have elements");
            numbers = element.isNumber() ? new NumberWriter(element, maxBytes) : null;
        } else {
            numbers = null;
        }
    }

    void setNull() {
        state = State.NULL;
    }

    boolean isNull() {
        return state == State.NULL;
    }

    /** Takes a null item of a list. */
    void putNull(String why) {
        if (lists != 1) {
            setNullInList(why);
        } else if (state == State.LIST) {
            try {
                if (numbers != null) {
                    numbers.addNull();
                } else {
                    nulls.set(items.size());
                    putBytes(NOTHING, 0, 0);
                }
            } catch (BadValueException e) {
                setBad(ErrorText.of(e));
            }
        }
    }

    /** Takes a null that no list can have, such as a list inside another one. */
    void setNullInList(String why) {
        state = State.NULL_IN_LIST;
        bad = why;
    }

    void setBad(String why) {
        state = State.BAD;
        bad = why;
    }

    /** Begins the outermost list of a row. */
    void beginList() {
        state = State.LIST;
        innerLists = 0;
        itemBytes = 0;
        nulls.clear();
        items.clear();
        if (numbers != null) {
            numbers.clear();
        }
    }

    void beginInnerList() {
        if (state == State.LIST) {
            if (4L * innerLists >= maxBytes) {
                setBad("the list has more than " + innerLists + " inner lists, which is the limit");
                return;
            }
            if (innerLists == lengths.length) {
                lengths = Arrays.copyOf(lengths, 2 * innerLists);
            }
            lengths[innerLists++] = 0;
        }
    }

    private NumberWriter numbers() {
        return Objects.requireNonNull(numbers, "the items are numbers");
    }

    void putLong(long value) {
        if (lists == 0) {
            state = State.LONG;
            number = value;
        } else if (state == State.LIST) {
            try {
                numbers().addLong(value);
                count();
            } catch (BadValueException e) {
                setBad(ErrorText.of(e));
            }
        }
    }

    void putDouble(double value) {
        if (lists == 0) {
            state = State.DOUBLE;
            real = value;
        } else if (state == State.LIST) {
            try {
                numbers().addDouble(value);
                count();
            } catch (BadValueException e) {
                setBad(ErrorText.of(e));
            }
        }
    }

    private void count() {
        if (lists > 1) {
            lengths[innerLists - 1]++;
        }
    }

    void putDecimal(BigDecimal value) {
        state = State.DECIMAL;
        decimal = value;
    }

    /** Keeps a range of an array, which must not change before the next row. */
    void putBytes(byte[] bytes, int start, int count) {
        if (lists == 0) {
            state = State.BYTES;
            if (array != bytes) {
                array = bytes;
                slice = ByteBuffer.wrap(bytes);
            }
            from = start;
            length = count;
        } else if (state == State.LIST) {
            itemBytes += count + ITEM_BYTES;
            if (itemBytes > maxBytes) {
                setBad("the list has more than " + maxBytes + " bytes, which is the limit of a value");
                items.clear();
            } else {
                items.add(ByteBuffer.wrap(bytes, start, count));
            }
        }
    }

    void give(ValueSink sink) throws BadValueException {
        switch (state) {
            case NULL -> sink.setNull();
            case BAD -> throw new BadValueException(bad);
            case NULL_IN_LIST -> throw new NullInListException(bad);
            case LONG -> sink.setLong(number);
            case DOUBLE -> sink.setDouble(real);
            case DECIMAL -> sink.setDecimal(decimal);
            case BYTES -> sink.setBytes(slice.clear().position(from).limit(from + length));
            case LIST -> giveList(sink);
        }
    }

    private void giveList(ValueSink sink) throws BadValueException {
        if (numbers == null) {
            NullItems.give(items, nulls, name, sink);
        } else if (lists == 1) {
            numbers.give(sink, name);
        } else {
            sink.setLists(numbers.bytes(), Arrays.copyOf(lengths, innerLists));
        }
    }
}

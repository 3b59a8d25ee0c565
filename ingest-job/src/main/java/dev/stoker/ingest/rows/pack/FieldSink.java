package dev.stoker.ingest.rows.pack;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.values.Numbers;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.errors.ErrorText;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Sets a field of the builder's open row. For one thread. */
public final class FieldSink implements ValueSink {
    /** Thrown when a value is missing, but the field requires one. */
    public static final class MissingValueException extends BadValueException {
        private static final long serialVersionUID = 1L;

        private MissingValueException(String reason, String advice) {
            super(reason, advice);
        }
    }

    private final List<Field> fields;
    private final String nullAdvice;
    private final boolean[] classes;
    private final boolean[] reals;
    private @Nullable ChunkBuilder builder;
    private int field;
    private boolean isClass;
    private boolean isReal;
    private long bytes;

    /**
     * @param fields of the dataset, as the builder has them
     * @param nullAdvice the next step for a value that is missing, but must not be, as a clause
     */
    public FieldSink(List<Field> fields, String nullAdvice) {
        this.fields = fields;
        this.nullAdvice = nullAdvice;
        this.classes = new boolean[fields.size()];
        this.reals = new boolean[fields.size()];
        for (int f = 0; f < classes.length; f++) {
            classes[f] = fields.get(f).type() == ScalarType.CATEGORICAL;
            reals[f] = fields.get(f).type() instanceof ScalarType scalar && scalar.isFloat();
        }
    }

    /** Begins a row in a builder. */
    public void begin(ChunkBuilder target) {
        builder = target;
        bytes = 0;
    }

    /** Chooses the field that the next value is for. */
    public FieldSink at(int index) {
        field = index;
        isClass = classes[index];
        isReal = reals[index];
        return this;
    }

    /** Returns the bytes of the row's values of variable length so far. */
    public long bytes() {
        return bytes;
    }

    private ChunkBuilder row() {
        return Objects.requireNonNull(builder, "a row has begun");
    }

    /** Returns why the builder refuses a value. The callers name the column. */
    private BadValueException refused(IllegalArgumentException e) {
        String reason = ErrorText.of(e);
        String column = "column " + fields.get(field).name() + ": ";
        return new BadValueException(reason.startsWith(column) ? reason.substring(column.length()) : reason);
    }

    private interface Setter {
        void set();
    }

    private void set(Setter setter) throws BadValueException {
        try {
            setter.set();
        } catch (IllegalArgumentException e) {
            throw refused(e);
        }
    }

    @Override
    public void setNull() throws BadValueException {
        if (!fields.get(field).nullable()) {
            throw new MissingValueException(
                    "there is no value, but the dataset's field "
                            + fields.get(field).name() + " requires one",
                    nullAdvice);
        }
        set(() -> row().setNull(field));
    }

    @Override
    public void setLong(long value) throws BadValueException {
        try {
            ChunkBuilder row = row();
            if (isClass) {
                row.setClass(field, Long.toString(value));
            } else if (isReal) {
                row.setDouble(field, Numbers.exact(value, (ScalarType)
                        fields.get(field).type()));
            } else {
                row.setLong(field, value);
            }
        } catch (IllegalArgumentException e) {
            throw refused(e);
        }
    }

    @Override
    public void setDouble(double value) throws BadValueException {
        try {
            row().setDouble(field, value);
        } catch (IllegalArgumentException e) {
            throw refused(e);
        }
    }

    @Override
    public void setDecimal(BigDecimal value) throws BadValueException {
        set(() -> row().setDecimal(field, value));
    }

    @Override
    public void setBytes(ByteBuffer value) throws BadValueException {
        bytes += value.remaining();
        if (isClass) {
            String name = Utf8.decodeOrNull(value);
            if (name == null) {
                throw new BadValueException("the name of the class is not UTF-8");
            }
            set(() -> row().setClass(field, name));
        } else {
            set(() -> row().setBytes(field, value));
        }
    }

    @Override
    public void setBytesList(List<ByteBuffer> items) throws BadValueException {
        set(() -> row().setItems(field, items));
    }

    @Override
    public boolean takesNullItems() {
        return fields.get(field).type().hasNullItems();
    }

    @Override
    public void setItems(List<? extends @Nullable ByteBuffer> items) throws BadValueException {
        set(() -> row().setItems(field, items));
    }

    @Override
    public void setLists(ByteBuffer items, int[] lengths) throws BadValueException {
        List<ByteBuffer> lists = new ArrayList<>(lengths.length);
        int width = fields.get(field).type().width();
        int at = items.position();
        for (int length : lengths) {
            lists.add(items.slice(at, length * width));
            at += length * width;
        }
        set(() -> row().setItems(field, lists));
    }
}

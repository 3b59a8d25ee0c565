package dev.stoker.formats.filter;

import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.condition.Literal;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Takes one value and compares it with a literal. For one thread. */
public final class LiteralComparison implements ValueSink {
    /** How the last value compares with the literal. */
    public enum Result {
        /** There was no value. */
        NULL,
        LESS,
        EQUAL,
        GREATER,
        /** The value is not a number. */
        NAN
    }

    private final @Nullable Literal literal;
    private Result result = Result.NULL;

    /** @param literal what values are compared with; null if only nulls matter */
    public LiteralComparison(@Nullable Literal literal) {
        this.literal = literal;
    }

    /** Returns the result for the value that was taken last. */
    public Result result() {
        return result;
    }

    @Override
    public void setNull() {
        result = Result.NULL;
    }

    @Override
    public void setLong(long value) {
        set(literal == null ? 0 : literal.compare(value));
    }

    @Override
    public void setDouble(double value) {
        if (Double.isNaN(value)) {
            result = Result.NAN;
        } else {
            set(literal == null ? 0 : literal.compare(value));
        }
    }

    @Override
    public void setDecimal(BigDecimal value) {
        set(literal == null ? 0 : literal.compare(value));
    }

    @Override
    public void setBytes(ByteBuffer bytes) {
        set(literal == null ? 0 : literal.compare(bytes));
    }

    @Override
    public void setBytesList(List<ByteBuffer> items) {
        set(0);
    }

    @Override
    public boolean takesNullItems() {
        return true;
    }

    @Override
    public void setItems(List<? extends @Nullable ByteBuffer> items) {
        set(0);
    }

    @Override
    public void setLists(ByteBuffer items, int[] lengths) {
        set(0);
    }

    private void set(int comparison) {
        result = comparison < 0 ? Result.LESS : comparison > 0 ? Result.GREATER : Result.EQUAL;
    }
}

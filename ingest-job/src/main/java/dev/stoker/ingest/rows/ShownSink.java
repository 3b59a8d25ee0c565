package dev.stoker.ingest.rows;

import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeText;
import dev.stoker.schemas.arrow.types.TimestampType;
import dev.stoker.schemas.text.Units;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Takes a value and shows it as a short text. For one thread. */
final class ShownSink implements ValueSink {
    private static final int SHOWN_CHARS = 40;

    private String text = "";
    private boolean isNumber;
    private long number;
    private long bytes = -1;
    private boolean takesNullItems;

    /** Takes what a field of a type takes. */
    ShownSink of(FieldType type) {
        takesNullItems = type.hasNullItems();
        return this;
    }

    /**
     * Returns the last value.
     *
     * @param type of its field
     */
    String text(FieldType type) {
        if (isNumber && type == ScalarType.DATE) {
            return LocalDate.ofEpochDay(number).toString();
        }
        if (isNumber && type instanceof TimestampType timestamp) {
            return moment(timestamp);
        }
        if (isNumber && type == ScalarType.BOOL) {
            return Boolean.toString(number != 0);
        }
        if (bytes >= 0 && type.layout() == FieldType.Layout.LIST) {
            return "[" + Units.plural(bytes / type.width(), "number") + "]";
        }
        boolean isText = type == ScalarType.UTF8 || type == ScalarType.CATEGORICAL;
        return bytes >= 0 && !isText
                ? (type instanceof TensorType ? type + " of " : "") + Units.plural(bytes, "byte")
                : text;
    }

    private String moment(TimestampType type) {
        try {
            return TimeText.dateTime(type, number).toInstant(ZoneOffset.UTC).toString();
        } catch (DateTimeException e) {
            // Beyond the calendar.
            return TimeText.format(type, number);
        }
    }

    private void set(String value) {
        text = value;
        isNumber = false;
        bytes = -1;
    }

    @Override
    public void setNull() {
        set("null");
    }

    @Override
    public void setLong(long value) {
        set(Long.toString(value));
        isNumber = true;
        number = value;
    }

    @Override
    public void setDouble(double value) {
        set(Double.toString(value));
    }

    @Override
    public void setDecimal(BigDecimal value) {
        set(value.toPlainString());
    }

    @Override
    public void setBytes(ByteBuffer value) {
        ByteBuffer head = value.slice(value.position(), Math.min(value.remaining(), 4 * SHOWN_CHARS));
        String whole = StandardCharsets.UTF_8.decode(head).toString().replaceAll("\\s+", " ");
        boolean isCut = whole.codePointCount(0, whole.length()) > SHOWN_CHARS;
        set(isCut ? whole.substring(0, whole.offsetByCodePoints(0, SHOWN_CHARS)) + "…" : whole);
        bytes = value.remaining();
    }

    @Override
    public void setBytesList(List<ByteBuffer> items) {
        set("[" + Units.plural(items.size(), "item") + "]");
    }

    @Override
    public boolean takesNullItems() {
        return takesNullItems;
    }

    @Override
    public void setItems(List<? extends @Nullable ByteBuffer> items) {
        set("[" + Units.plural(items.size(), "item") + "]");
    }

    @Override
    public void setLists(ByteBuffer items, int[] lengths) {
        set("[" + Units.plural(lengths.length, "list") + "]");
    }
}

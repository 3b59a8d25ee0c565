package dev.stoker.formats.partition;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.values.TextValue;
import dev.stoker.schemas.arrow.types.FieldType;
import org.jspecify.annotations.Nullable;

/**
 * A column with one value for all rows of a file.
 *
 * @param name name of the column
 * @param type type of the value
 * @param text the value as text, or null
 * @param source where the value is from, for messages and plans
 */
public record GivenColumn(
        String name, FieldType type, @Nullable String text, String source) {
    /** The source of columns of a {@link PartitionPath}. */
    public static final String DIRECTORY = "directory";

    /** Creates the column of a directory. */
    public static GivenColumn ofDirectory(String name, FieldType type, @Nullable String text) {
        return new GivenColumn(name, type, text, DIRECTORY);
    }

    /** Creates a column without values. */
    public static GivenColumn absent(String name, FieldType type) {
        return new GivenColumn(name, type, null, "absent");
    }

    /** Returns the description of the column. */
    public RowColumn column() {
        return new RowColumn(name, type, text == null, source, RowColumn.Role.NONE);
    }

    /** Gives the value. */
    public void give(ValueSink sink) throws BadValueException {
        if (text == null) {
            sink.setNull();
        } else {
            TextValue.put(text, type, sink);
        }
    }

    /** Returns the directory, for messages. */
    String shown() {
        return name + "=" + (text == null ? PartitionPath.NULL : text);
    }
}

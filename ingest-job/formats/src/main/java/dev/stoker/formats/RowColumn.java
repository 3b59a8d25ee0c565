package dev.stoker.formats;

import dev.stoker.schemas.arrow.types.FieldType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A column of a file.
 *
 * @param name name in the file, with dots between a struct and its fields; names may repeat
 * @param type the field type that holds its values without loss
 * @param nullable whether a value may be missing
 * @param sourceType the type in the words of the format, for messages and {@code --dry-run}
 * @param role the use of the column, if the file states it
 * @param classes all class names of a categorical column in the order of the file's class ids; empty if the file does
 *     not state them
 * @param absent whether the first rows do not have it, so that only its declared type makes it a column
 */
public record RowColumn(
        String name,
        FieldType type,
        boolean nullable,
        String sourceType,
        Role role,
        List<String> classes,
        boolean absent) {
    /** What a column is for, if the file says so. */
    public enum Role {
        /** The file says nothing. */
        NONE,
        /** Large values: images, audio, the members of an archive. */
        PAYLOAD,
        /** Values that are no payload, however large they are. */
        SMALL,
        /** The class of a sample. */
        LABEL,
        /** A unique name of a sample. */
        KEY,
        /** The path of a file outside, or the original name of a payload. */
        PATH
    }

    public RowColumn {
        classes = List.copyOf(classes);
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(role, "role");
    }

    /** A column that is in the file. */
    public RowColumn(
            String name, FieldType type, boolean nullable, String sourceType, Role role, List<String> classes) {
        this(name, type, nullable, sourceType, role, classes, false);
    }

    /** A column that is in the file, without stated classes. */
    public RowColumn(String name, FieldType type, boolean nullable, String sourceType, Role role) {
        this(name, type, nullable, sourceType, role, List.of());
    }

    /** Returns the types of columns by name, for conditions on their rows. */
    public static Map<String, FieldType> types(Map<String, RowColumn> columns) {
        Map<String, FieldType> types = new LinkedHashMap<>();
        columns.forEach((name, column) -> types.put(name, column.type()));
        return types;
    }

    /** Returns the column of a declared type that the first rows do not have. */
    public static RowColumn absent(String name, FieldType type) {
        String text = "a declared type; the first rows do not have it";
        return new RowColumn(name, type, true, text, Role.NONE, List.of(), true);
    }

    /** Returns this column with another type. */
    public RowColumn with(FieldType other, boolean isNullable) {
        return new RowColumn(name, other, isNullable, sourceType, role, classes, absent);
    }
}

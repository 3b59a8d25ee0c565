package dev.stoker.formats.write;

import dev.stoker.schemas.arrow.types.FieldType;
import java.util.List;

/**
 * A column of a file to write.
 *
 * @param name name in the file
 * @param type type of the values
 * @param nullable whether a value may be missing
 * @param payload whether values are large and not worth a dictionary
 * @param classes class names of a categorical column by id; empty for other types
 */
public record OutputColumn(String name, FieldType type, boolean nullable, boolean payload, List<String> classes) {
    public OutputColumn {
        classes = List.copyOf(classes);
    }
}

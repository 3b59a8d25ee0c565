package dev.stoker.schemas.arrow.types;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Describes a column of an Arrow schema.
 *
 * @param name any text
 * @param type its type; the written metadata {@code stoker.type} states types that Arrow does not have
 * @param nullable whether values may be null
 * @param metadata further custom metadata in the order in which it is written, without the keys that follow from the
 *     type ({@code stoker.type}, {@code ARROW:extension:…})
 */
public record ArrowField(String name, FieldType type, boolean nullable, Map<String, String> metadata) {
    public ArrowField {
        metadata = Collections.unmodifiableMap(new LinkedHashMap<>(metadata));
    }

    /** Creates a column without nulls and metadata. */
    public static ArrowField of(String name, FieldType type) {
        return new ArrowField(name, type, false, Map.of());
    }

    /** Creates a nullable column without metadata. */
    public static ArrowField nullable(String name, FieldType type) {
        return new ArrowField(name, type, true, Map.of());
    }

    /** Creates the column of a dataset's field. */
    public static ArrowField of(Field field) {
        return new ArrowField(field.name(), field.type(), field.nullable(), Map.of());
    }
}

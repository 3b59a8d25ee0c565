package dev.stoker.schemas.arrow.types;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Contains the columns and the custom metadata of an Arrow schema.
 *
 * @param fields the columns, in order
 * @param metadata custom metadata in the order in which it is written
 */
public record ArrowSchema(List<ArrowField> fields, Map<String, String> metadata) {
    public ArrowSchema {
        fields = List.copyOf(fields);
        metadata = Collections.unmodifiableMap(new LinkedHashMap<>(metadata));
    }

    /** Creates a schema without metadata. */
    public static ArrowSchema of(List<ArrowField> fields) {
        return new ArrowSchema(fields, Map.of());
    }

    /** Returns the index of the column, or -1. */
    public int indexOf(String name) {
        for (int i = 0; i < fields.size(); i++) {
            if (fields.get(i).name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    /** Returns the same schema without one metadata key. */
    public ArrowSchema without(String key) {
        Map<String, String> rest = new LinkedHashMap<>(metadata);
        rest.remove(key);
        return new ArrowSchema(fields, rest);
    }
}

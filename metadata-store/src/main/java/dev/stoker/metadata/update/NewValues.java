package dev.stoker.metadata.update;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkHead;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Contains new values of small fields by key. Immutable and thread-safe after the last {@link #add}.
 *
 * <p>Memory: the values in Arrow form, and about 100 bytes and the text for each key.
 */
public final class NewValues {

    private final List<Field> fields;
    private final AddedFields added;
    private final Map<String, Place> places = new HashMap<>();

    /**
     * The place of a sample's new values.
     *
     * @param number the number of the key
     */
    record Place(ChunkHead values, int row, int number) {}

    /** @param fields the fields with new values, in dataset order. The dataset has them */
    public NewValues(List<Field> fields) {
        this(fields, AddedFields.NONE);
    }

    /**
     * @param fields the fields with new values, in dataset order
     * @param added those of them that the dataset did not have when the values were read
     */
    public NewValues(List<Field> fields, AddedFields added) {
        this.fields = List.copyOf(fields);
        this.added = added;
    }

    /**
     * Adds the rows of a block with these fields.
     *
     * @return the first row whose key was added before; -1 if there is none
     */
    public int add(ChunkHead values) {
        if (!values.fields().equals(fields)) {
            throw new IllegalArgumentException("expected the fields " + fields + ", found " + values.fields());
        }
        for (int row = 0; row < values.rows(); row++) {
            if (places.putIfAbsent(values.key(row), new Place(values, row, places.size())) != null) {
                return row;
            }
        }
        return -1;
    }

    /** Returns the fields with new values, in dataset order. */
    public List<Field> fields() {
        return fields;
    }

    /** Returns the fields that the dataset did not have when the values were read. */
    public AddedFields added() {
        return added;
    }

    /** Returns the number of keys. */
    public int size() {
        return places.size();
    }

    @Nullable
    Place of(String key) {
        return places.get(key);
    }

    Iterable<Map.Entry<String, Place>> all() {
        return places.entrySet();
    }
}

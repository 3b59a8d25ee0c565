package dev.stoker.metadata.update;

import dev.stoker.schemas.chunk.ChunkHead;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Shows tests the values of an update. */
public final class UpdatedValues {
    private UpdatedValues() {}

    /** Reads a row of a block. */
    public interface Reader {
        /** Returns the value of the first field. */
        @Nullable
        Object read(ChunkHead values, int row);
    }

    /** Returns the new value of the first field of a sample. */
    public static @Nullable Object of(NewValues values, String key, Reader reader) {
        NewValues.Place place = Objects.requireNonNull(values.of(key), "the key is in the table");
        return reader.read(place.values(), place.row());
    }
}

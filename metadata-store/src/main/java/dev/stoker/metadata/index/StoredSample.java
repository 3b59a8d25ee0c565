package dev.stoker.metadata.index;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A sample that was read and verified. Immutable and thread-safe. */
public final class StoredSample {

    private final SampleStat stat;
    private final ChunkHead head;
    private final @Nullable ByteBuffer[] payload;

    /** @param payload the bytes of each payload field, by the field's index; null for other fields */
    StoredSample(SampleStat stat, ChunkHead head, @Nullable ByteBuffer[] payload) {
        this.stat = stat;
        this.head = head;
        this.payload = payload;
    }

    public SampleStat stat() {
        return stat;
    }

    public String key() {
        return stat.key();
    }

    /** Returns the dataset's fields. */
    public List<Field> fields() {
        return head.fields();
    }

    /** Returns the head of the sample's chunk, which contains the small fields in row {@link #row}. */
    public ChunkHead head() {
        return head;
    }

    /** Returns the sample's row in its chunk. */
    public int row() {
        return stat.row();
    }

    /** Returns whether the sample has no value in a field. */
    public boolean isNull(int field) {
        return head.column(field).isNull(row());
    }

    /**
     * Returns a read-only view of the value of a payload field.
     *
     * @throws IllegalArgumentException for a small field
     */
    public ByteBuffer payload(int field) {
        ByteBuffer bytes = payload[field];
        if (bytes == null) {
            throw new IllegalArgumentException("field '" + fields().get(field).name() + "' is not payload");
        }
        return bytes.asReadOnlyBuffer();
    }
}

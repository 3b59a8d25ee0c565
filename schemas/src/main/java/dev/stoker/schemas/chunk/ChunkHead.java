package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A chunk's head: keys, small fields, places, lengths and sums of all samples. Immutable; any thread. Columns stay in
 * Arrow form, there is no object per row.
 */
public final class ChunkHead {
    private ChunkHead() {}

    /**
     * Parses a head whose CRC was checked; structure and offsets are checked here.
     *
     * @param head owned memory, from index 0 to the limit; must not change
     * @param fileLength bytes of the whole file
     * @param file the file's name for messages
     */
    public static ChunkHead parse(ByteBuffer head, long fileLength, String file) throws StokerException {
        throw new UnsupportedOperationException("not there yet");
    }

    /** The file's name for messages. */
    public String file() {
        throw new UnsupportedOperationException("not there yet");
    }

    /** What the chunk says about itself. */
    public ChunkIdentity identity() {
        throw new UnsupportedOperationException("not there yet");
    }

    /** The dataset's fields in dataset order. */
    public List<Field> fields() {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Samples. */
    public int rows() {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Bytes of the head. */
    public int length() {
        throw new UnsupportedOperationException("not there yet");
    }

    /** A sample's key. */
    public String key(int row) {
        throw new UnsupportedOperationException("not there yet");
    }

    /** The key column. */
    public ArrowColumn keys() {
        throw new UnsupportedOperationException("not there yet");
    }

    /** A field's column; of a payload field only positions and lengths can be asked for. */
    public ArrowColumn column(int field) {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Class names of a categorical field by chunk-local id; empty for other fields. */
    public List<String> classes(int field) {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Where the sample's bytes of a payload field begin in the file. */
    public int payloadPosition(int field, int row) {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Bytes of the sample's payload field. */
    public int payloadLength(int field, int row) {
        throw new UnsupportedOperationException("not there yet");
    }

    /** CRC-32C of the sample's bytes of a payload field. */
    public int payloadCrc32c(int field, int row) {
        throw new UnsupportedOperationException("not there yet");
    }
}

package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.Field;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Collects samples and makes a chunk of them. Payload is copied once (or read straight into place) and summed once.
 * A row is begun with {@link #beginRow}, its fields are set in any order, and it is ended or abandoned. One thread at
 * a time; reusable through {@link #reset}.
 */
public final class ChunkBuilder {
    private static final String SOON = "not there yet";

    /**
     * An empty chunk of a dataset.
     *
     * @param fields in dataset order: small fields first
     * @param segmentBytes payload memory is allocated in direct buffers of this size, or of a sample's if it is bigger
     */
    public ChunkBuilder(List<Field> fields, int segmentBytes) {
        throw new UnsupportedOperationException(SOON + fields + segmentBytes);
    }

    /** Begins a row. */
    public void beginRow(String key) {
        throw new UnsupportedOperationException(SOON);
    }

    /** Sets an integer or bool. */
    public void setLong(int field, long value) {
        throw new UnsupportedOperationException(SOON);
    }

    /** Sets a floating-point number. */
    public void setDouble(int field, double value) {
        throw new UnsupportedOperationException(SOON);
    }

    /** Sets a categorical field by its class name. */
    public void setClass(int field, String name) {
        throw new UnsupportedOperationException(SOON);
    }

    /** Sets text of a small or payload field. */
    public void setString(int field, String value) {
        throw new UnsupportedOperationException(SOON);
    }

    /** Sets the bytes of a utf8, binary, list or tensor field, small or payload; copies them. */
    public void setBytes(int field, ByteBuffer bytes) {
        throw new UnsupportedOperationException(SOON);
    }

    /** Says that the row has no value; a nullable field that is not set has none either. */
    public void setNull(int field) {
        throw new UnsupportedOperationException(SOON);
    }

    /**
     * Room for a payload value, to be filled from its position on; then {@link #commit}. Valid until then.
     *
     * @return a buffer with exactly {@code upTo} bytes remaining
     */
    public ByteBuffer reserve(int field, int upTo) {
        throw new UnsupportedOperationException(SOON);
    }

    /** Takes the first {@code length} bytes of the last {@link #reserve} as the field's value. */
    public void commit(int field, int length) {
        throw new UnsupportedOperationException(SOON);
    }

    /**
     * Reads a payload value from a stream to its end.
     *
     * @param limit more bytes than this are refused with an IOException
     * @return bytes read
     */
    public long setBytes(int field, InputStream in, long limit) throws IOException {
        throw new UnsupportedOperationException(SOON);
    }

    /** Ends the row: sums its payload. A field that is neither set nor nullable is an IllegalStateException. */
    public void endRow() {
        throw new UnsupportedOperationException(SOON);
    }

    /** Drops the row that was begun. */
    public void abandonRow() {
        throw new UnsupportedOperationException(SOON);
    }

    /** Ended rows. */
    public int rows() {
        return 0;
    }

    /** An upper bound of the file's length if it were finished now, at most some hundred bytes too high. */
    public long length() {
        return 0;
    }

    /** As {@link #length}, with one more row that brings so many bytes of key and fields. */
    public long lengthWith(long rowBytes) {
        return 0;
    }

    /** The finished chunk; it refers to this builder's memory, so write it before {@link #reset}. At least one row. */
    public PackedChunk finish(ChunkIdentity identity) {
        throw new UnsupportedOperationException(SOON);
    }

    /** Starts an empty chunk in the same memory. */
    public void reset() {
        throw new UnsupportedOperationException(SOON);
    }
}

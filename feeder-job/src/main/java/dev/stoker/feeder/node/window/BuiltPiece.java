package dev.stoker.feeder.node.window;

import dev.stoker.feeder.node.chunks.ChunkBytes;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A piece ready to be written: BATCH header and message in parts. Valid until closed; the builder reuses its first part's
 * memory for the next piece.
 */
public final class BuiltPiece implements AutoCloseable {
    private final ByteBuffer[] parts;
    private final long bytes;
    private final int rows;
    private final int skipped;
    private final List<ChunkBytes> held;

    BuiltPiece(ByteBuffer[] parts, long bytes, int rows, int skipped, List<ChunkBytes> held) {
        this.parts = parts;
        this.bytes = bytes;
        this.rows = rows;
        this.skipped = skipped;
        this.held = held;
    }

    /** Header and message, in order; for gathering writes, which move the positions. */
    public ByteBuffer[] parts() {
        return parts;
    }

    /** Bytes of all parts. */
    public long bytes() {
        return bytes;
    }

    public int rows() {
        return rows;
    }

    /** Rows left out. */
    public int skipped() {
        return skipped;
    }

    /** Lets go of the chunks. */
    @Override
    public void close() {
        held.forEach(ChunkBytes::close);
        held.clear();
    }
}

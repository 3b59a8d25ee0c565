package dev.stoker.server.window;

import dev.stoker.server.chunks.ChunkBytes;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A piece ready to be written: BATCH header and message in parts. Valid until closed; the builder reuses its first
 * part's memory for the next piece.
 */
public final class BuiltPiece implements AutoCloseable {
    private final ByteBuffer[] parts;
    private final long bytes;
    private final int rows;
    private final int skipped;
    private final List<ChunkBytes> held;
    private final boolean reference;

    BuiltPiece(ByteBuffer[] parts, long bytes, int rows, int skipped, List<ChunkBytes> held, boolean reference) {
        this.reference = reference;
        this.parts = parts;
        this.bytes = bytes;
        this.rows = rows;
        this.skipped = skipped;
        this.held = held;
    }

    /** Whether the parts are a BATCH_REF, whose payload the trainer reads from the files itself. */
    public boolean isReference() {
        return reference;
    }

    /** Takes the hold on the chunks over; the caller closes each. */
    public List<ChunkBytes> takeHolds() {
        List<ChunkBytes> taken = List.copyOf(held);
        held.clear();
        return taken;
    }

    /** Header and message, in order; for gathering writes, which move the positions. */
    public ByteBuffer[] parts() {
        return parts;
    }

    /** Bytes of the BATCH that it is or stands for. */
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

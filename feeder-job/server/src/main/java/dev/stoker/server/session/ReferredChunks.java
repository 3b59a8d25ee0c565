package dev.stoker.server.session;

import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.chunks.ChunkBytes;
import java.util.ArrayDeque;
import java.util.List;

/**
 * The chunks that a trainer was referred to and may still be reading. They are held until the trainer reports that it
 * has read them, or until its session ends. Thread-safe.
 */
final class ReferredChunks implements AutoCloseable {
    /** Maximum number of outstanding references. Beyond it, pieces are sent whole. */
    static final int MAX = 1024;

    private final ArrayDeque<List<ChunkBytes>> out = new ArrayDeque<>();
    private long released;
    private boolean closed;

    /** Returns whether one more reference may be sent. */
    synchronized boolean hasRoom() {
        return out.size() < MAX;
    }

    /** Adds a reference that is sent now, and takes over the holds on its chunks. */
    void add(List<ChunkBytes> chunks) {
        synchronized (this) {
            if (!closed) {
                out.add(chunks);
                return;
            }
        }
        chunks.forEach(ChunkBytes::close);
    }

    /**
     * Releases references that the trainer has read.
     *
     * @param count number of references that the trainer has read, counted from the first
     * @throws ProtocolException if the count is impossible, or smaller than before
     */
    void release(long count) throws ProtocolException {
        while (true) {
            List<ChunkBytes> read;
            synchronized (this) {
                if (count < released || count > released + out.size()) {
                    throw new ProtocolException(
                            ErrorCode.BAD_FRAME,
                            "RELEASE: " + count + " references, of " + (released + out.size()) + " that were sent and "
                                    + released + " that were released before");
                }
                if (count == released) {
                    return;
                }
                read = out.remove();
                released++;
            }
            read.forEach(ChunkBytes::close);
        }
    }

    /** Releases everything when the session has ended. */
    @Override
    public void close() {
        List<List<ChunkBytes>> left;
        synchronized (this) {
            closed = true;
            left = List.copyOf(out);
            out.clear();
        }
        left.forEach(chunks -> chunks.forEach(ChunkBytes::close));
    }
}

package dev.stoker.feeder.node.server;

import dev.stoker.feeder.node.chunks.ChunkBytes;
import dev.stoker.schemas.protocol.ErrorCode;
import dev.stoker.schemas.protocol.ProtocolException;
import java.util.ArrayDeque;
import java.util.List;

/**
 * The chunks that a trainer was referred to and may still be reading: held until it says that it has read them, or its session
 * ends. Thread-safe.
 */
final class Leases implements AutoCloseable {
    /** References that may be out; beyond, pieces are sent whole. */
    static final int MAX = 1024;

    private final ArrayDeque<List<ChunkBytes>> out = new ArrayDeque<>();
    private long released;
    private boolean closed;

    /** Whether one more reference may go out. */
    synchronized boolean hasRoom() {
        return out.size() < MAX;
    }

    /** A reference goes out; its chunks are held from now on by this. */
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
     * The trainer has read so many references, counted from the first.
     *
     * @throws ProtocolException if it cannot have, or says less than before
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

    /** The session has ended. */
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

package dev.stoker.client.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * A pool of direct memory for messages. Closing a batch returns its buffers; the garbage collector frees the buffers of
 * batches that are never closed. Thread-safe.
 */
public final class Buffers {
    private final Map<Integer, Deque<ByteBuffer>> free = new HashMap<>();
    private final long limitBytes;
    private long keptBytes;

    /** @param limitBytes the most memory kept for reuse; the pool does not limit the memory in use */
    public Buffers(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /** Returns a buffer with index 0 and a limit of exactly {@code bytes}. Its contents are undefined. */
    public ByteBuffer take(int bytes) {
        int size = sizeClass(bytes);
        synchronized (this) {
            Deque<ByteBuffer> kept = free.get(size);
            if (kept != null && !kept.isEmpty()) {
                keptBytes -= size;
                return kept.poll().clear().limit(bytes);
            }
        }
        return ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN).limit(bytes);
    }

    /** Takes back a buffer that is no longer used. */
    public synchronized void giveBack(ByteBuffer buffer) {
        int size = buffer.capacity();
        if (keptBytes + size <= limitBytes) {
            keptBytes += size;
            free.computeIfAbsent(size, s -> new ArrayDeque<>()).push(buffer);
        }
    }

    /** Returns one of sixteen size classes per power of two, so that batches of varying size share buffers. */
    private static int sizeClass(int bytes) {
        if (bytes <= 4096) {
            return 4096;
        }
        long step = Long.highestOneBit(bytes) >>> 4;
        long size = (bytes + step - 1) / step * step;
        return size > Integer.MAX_VALUE - 64 ? bytes : (int) size;
    }
}

package dev.stoker.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Direct memory for messages, used again once a batch is closed; what is never closed is the garbage collector's. Thread-safe.
 */
final class Buffers {
    private final Map<Integer, Deque<ByteBuffer>> free = new HashMap<>();
    private final long limitBytes;
    private long keptBytes;

    /** @param limitBytes so much is kept for use again; what is handed out is not limited here */
    Buffers(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /** A buffer from index 0 to a limit of exactly so many bytes; contents undefined. */
    ByteBuffer take(int bytes) {
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

    /** Takes a buffer back that nobody uses any more. */
    synchronized void giveBack(ByteBuffer buffer) {
        int size = buffer.capacity();
        if (keptBytes + size <= limitBytes) {
            keptBytes += size;
            free.computeIfAbsent(size, s -> new ArrayDeque<>()).push(buffer);
        }
    }

    /** One of sixteen sizes per power of two, so that batches of varying size share buffers. */
    private static int sizeClass(int bytes) {
        if (bytes <= 4096) {
            return 4096;
        }
        long step = Long.highestOneBit(bytes) >>> 4;
        long size = (bytes + step - 1) / step * step;
        return size > Integer.MAX_VALUE - 64 ? bytes : (int) size;
    }
}

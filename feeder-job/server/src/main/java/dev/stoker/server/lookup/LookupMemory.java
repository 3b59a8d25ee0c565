package dev.stoker.server.lookup;

import dev.stoker.server.threads.Threads;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * The memory for answers that are being made or sent, shared by all sessions of a server. An answer that is larger than
 * the limit is made alone. Thread-safe.
 */
public final class LookupMemory {
    private final long limitBytes;
    private final Duration patience;
    private final Lock lock;
    private final Condition freed;
    /** Guarded by {@link #lock}, as the next one is. */
    private long usedBytes;

    /**
     * @param limitBytes limit of all answers together
     * @param patience how long an answer waits for others to be sent
     */
    public LookupMemory(long limitBytes, Duration patience, Threads threads) {
        this.limitBytes = limitBytes;
        this.patience = patience;
        this.lock = threads.lock();
        this.freed = lock.newCondition();
    }

    /**
     * Waits until this number of bytes is free, and takes it.
     *
     * @throws IOException if other answers take the memory for too long
     */
    void take(long bytes) throws IOException, InterruptedException {
        long leftNanos = patience.toNanos();
        lock.lock();
        try {
            while (usedBytes > 0 && usedBytes + bytes > limitBytes) {
                if (leftNanos <= 0) {
                    throw new IOException("answers to other clients have used the memory for lookups (" + limitBytes
                            + " bytes) for " + patience.toSeconds() + " s; raise --working-memory");
                }
                leftNanos = freed.awaitNanos(leftNanos);
            }
            usedBytes += bytes;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the bytes of one {@link #take}. */
    void release(long bytes) {
        lock.lock();
        try {
            usedBytes -= bytes;
            freed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the bytes that answers use now. */
    public long usedBytes() {
        lock.lock();
        try {
            return usedBytes;
        } finally {
            lock.unlock();
        }
    }
}

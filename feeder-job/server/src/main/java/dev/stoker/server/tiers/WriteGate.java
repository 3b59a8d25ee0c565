package dev.stoker.server.tiers;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;

/**
 * Lets threads write to a tier until it is closed. Closing waits for the writers, so that no file appears after the
 * files are removed. Thread-safe.
 */
final class WriteGate {
    private static final long CLOSE_SECONDS = 10;

    /** A step of a write. */
    interface Step<T> {
        T run() throws IOException;
    }

    /** Held for reading while a chunk is written. */
    private final ReentrantReadWriteLock writing = new ReentrantReadWriteLock();

    private volatile boolean closed;

    boolean isClosed() {
        return closed;
    }

    /**
     * Runs a step. A step can consist of others.
     *
     * @param onFailure called with the failure of the outermost step, before it is thrown
     * @throws ClosedChannelException if the gate is closed
     */
    <T> T run(Step<T> step, Consumer<IOException> onFailure) throws IOException {
        boolean isWithin = writing.getReadHoldCount() > 0;
        writing.readLock().lock();
        try {
            if (closed && !isWithin) {
                throw new ClosedChannelException();
            }
            return step.run();
        } catch (IOException e) {
            if (!isWithin) {
                onFailure.accept(e);
            }
            throw e;
        } finally {
            writing.readLock().unlock();
        }
    }

    /** Refuses further steps and waits for those in progress. The wait is limited, because a disk may hang. */
    void close() {
        closed = true;
        try {
            if (writing.writeLock().tryLock(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                writing.writeLock().unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

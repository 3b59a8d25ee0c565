package dev.stoker.server.lookup;

import dev.stoker.server.threads.Threads;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * Threads that read parts of far chunks side by side, for all sessions of a server. They start when they are first
 * needed. Thread-safe; the lock guards all fields, and no thread holds it during a read.
 */
public final class LookupThreads implements AutoCloseable {
    private static final int THREADS = 16;

    /** A read of some bytes. */
    interface Read {
        void run() throws IOException;
    }

    /** Reads that one caller waits for. */
    private static final class Batch {
        int left;

        @Nullable
        Exception failure;

        Batch(int left) {
            this.left = left;
        }
    }

    private record Job(Read read, Batch batch) {}

    private final Threads threads;
    private final Lock lock;
    private final Condition changed;
    private final Queue<Job> queue = new ArrayDeque<>();
    private final List<Threads.Started> running = new ArrayList<>();
    private int idle;
    private boolean closed;

    public LookupThreads(Threads threads) {
        this.threads = threads;
        this.lock = threads.lock();
        this.changed = lock.newCondition();
    }

    /**
     * Does all reads. Returns when none of them is in progress, also if one fails.
     *
     * @throws IOException the first failure
     */
    void all(List<Read> reads) throws IOException {
        if (reads.size() == 1) {
            reads.get(0).run();
            return;
        }
        Batch batch = new Batch(reads.size());
        lock.lock();
        try {
            for (Read read : reads) {
                queue.add(new Job(read, batch));
            }
            while (!closed && running.size() < THREADS && idle + running.size() < queue.size()) {
                running.add(threads.start("stoker-lookup-" + running.size(), this::serve));
            }
            changed.signalAll();
        } catch (OutOfMemoryError e) {
            // The process may have no more threads. This thread reads, too.
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        for (Job job = mine(batch); job != null; job = mine(batch)) {
            run(job);
        }
        if (batch.failure instanceof IOException failure) {
            throw failure;
        }
        if (batch.failure != null) {
            throw new IOException("a part of a chunk cannot be read", batch.failure);
        }
    }

    /** Takes a read of the batch, or waits for those that are in progress and returns null. */
    private @Nullable Job mine(Batch batch) {
        lock.lock();
        try {
            for (Job job : queue) {
                if (job.batch() == batch) {
                    queue.remove(job);
                    return job;
                }
            }
            while (batch.left > 0) {
                // The reads write into memory that the caller frees.
                changed.awaitUninterruptibly();
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    private void run(Job job) {
        Exception failure = null;
        try {
            job.read().run();
        } catch (IOException | RuntimeException e) {
            failure = e;
        } finally {
            lock.lock();
            try {
                Batch batch = job.batch();
                batch.left--;
                batch.failure = batch.failure == null ? failure : batch.failure;
                if (batch.left == 0) {
                    changed.signalAll();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private void serve() {
        for (Job job = next(); job != null; job = next()) {
            run(job);
        }
    }

    private @Nullable Job next() {
        lock.lock();
        try {
            idle++;
            while (!closed && queue.isEmpty()) {
                changed.await();
            }
            return closed ? null : queue.remove();
        } catch (InterruptedException e) {
            return null;
        } finally {
            idle--;
            lock.unlock();
        }
    }

    /** Ends the threads when they have finished their reads. Callers do what is left themselves. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}

package dev.stoker.metadata.audit;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Reads many small objects of a store in parallel, with its own threads, so their latencies overlap. One thread uses
 * it, and receives the results in the order of its requests.
 */
final class Reads implements AutoCloseable {

    /** Number of parallel reads; the default of a feeder. */
    static final int AT_ONCE = 16;

    private final ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE, Reads::thread);

    /** Reads one object. Must be thread-safe. */
    interface Read<K, T> {
        T read(K key) throws IOException;
    }

    /** Result of a read, or the reason of its failure. */
    interface Outcome<T> {
        T get() throws IOException;
    }

    /** Receives a result. */
    interface Taker<K, T> {
        void take(K key, Outcome<T> outcome) throws IOException;
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "stoker-audit-read");
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Reads an object for each key, at most {@link #AT_ONCE} ahead of the taker. The taker runs in the calling thread.
     */
    <K, T> void inOrder(Iterable<K> keys, Read<K, T> read, Taker<K, T> taker) throws IOException {
        Deque<Future<T>> ahead = new ArrayDeque<>();
        Iterator<K> toRead = keys.iterator();
        try {
            for (K key : keys) {
                while (ahead.size() < AT_ONCE && toRead.hasNext()) {
                    K next = toRead.next();
                    ahead.add(threads.submit(() -> read.read(next)));
                }
                Future<T> first = ahead.remove();
                taker.take(key, () -> await(first));
            }
        } finally {
            ahead.forEach(left -> left.cancel(true));
        }
    }

    private static <T> T await(Future<T> future) throws IOException {
        try {
            return future.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            if (e.getCause() instanceof Error failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while reading");
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}

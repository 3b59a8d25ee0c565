package dev.stoker.metadata.chunks;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Works on many chunks, some at a time. Each thread works on one chunk after the other, so the memory is that of one
 * chunk for each thread.
 */
public final class ParallelChunks {

    /** Work on one chunk. */
    @FunctionalInterface
    public interface Work {
        /** @param chunk index of the chunk */
        void accept(int chunk) throws IOException;
    }

    private ParallelChunks() {}

    /**
     * Works on each chunk. Ends with the first failure, after the other threads have finished their chunks. One thread
     * takes the chunks in their order.
     *
     * @param chunks indexes of the chunks
     * @param threads number of chunks at a time
     * @param work makes the work of one thread
     * @throws InterruptedIOException if the caller is interrupted
     */
    public static void forEach(int[] chunks, int threads, Supplier<? extends Work> work) throws IOException {
        if (threads < 1) {
            throw new IllegalArgumentException("Threads: " + threads);
        }
        int workers = Math.min(threads, chunks.length);
        if (workers <= 1) {
            Work own = work.get();
            for (int chunk : chunks) {
                own.accept(chunk);
            }
            return;
        }
        AtomicInteger next = new AtomicInteger();
        ExecutorService pool = Executors.newFixedThreadPool(workers, task -> {
            Thread thread = new Thread(task, "stoker-chunks");
            thread.setDaemon(true);
            return thread;
        });
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < workers; i++) {
                running.add(pool.submit(() -> {
                    Work own = work.get();
                    for (int n = next.getAndIncrement(); n < chunks.length; n = next.getAndIncrement()) {
                        try {
                            own.accept(chunks[n]);
                        } catch (IOException | RuntimeException | Error e) {
                            next.set(chunks.length);
                            throw e;
                        }
                    }
                    return null;
                }));
            }
            await(running);
        } finally {
            next.set(chunks.length);
            pool.shutdownNow();
        }
    }

    private static void await(List<Future<?>> running) throws IOException {
        Throwable failure = null;
        for (Future<?> worker : running) {
            try {
                worker.get();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("Interrupted while chunks were read");
            } catch (ExecutionException e) {
                failure = failure == null ? e.getCause() : failure;
            }
        }
        if (failure instanceof IOException e) {
            throw e;
        }
        if (failure != null) {
            throw new IllegalStateException("The work on a chunk broke off", failure);
        }
    }
}

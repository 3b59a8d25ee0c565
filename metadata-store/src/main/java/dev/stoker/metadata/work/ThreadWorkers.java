package dev.stoker.metadata.work;

import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads of this process. An interrupt of the caller interrupts them.
 *
 * @param store holds the dataset
 * @param executor runs the workers; must have {@code count} free threads, or be the caller's thread
 * @param count number of workers
 */
public record ThreadWorkers(ObjectStore store, Executor executor, int count) implements Workers {

    private static final Logger LOG = LoggerFactory.getLogger(ThreadWorkers.class);
    private static final int END_SECONDS = 30;

    public ThreadWorkers {
        if (count < 1) {
            throw new IllegalArgumentException("Workers: " + count);
        }
    }

    @Override
    public <R extends Serializable> void run(int pieces, PieceWork<R> work, Consumer<? super R> results)
            throws IOException, InterruptedException {
        Run<R> run = new Run<>(pieces, work.open(store), results);
        List<FutureTask<?>> tasks = new ArrayList<>();
        int threads = Math.min(count, pieces);
        CountDownLatch running = new CountDownLatch(threads);
        for (int t = 0; t < threads; t++) {
            FutureTask<?> task = new FutureTask<>(run, null);
            tasks.add(task);
            executor.execute(() -> {
                task.run();
                running.countDown();
            });
        }
        try {
            running.await();
        } catch (InterruptedException e) {
            run.stop();
            tasks.forEach(task -> task.cancel(true));
            awaitEnd(running);
            throw e;
        }
        run.rethrow();
    }

    /** Waits for threads that were interrupted, so that no piece is in work any more. */
    private static void awaitEnd(CountDownLatch running) {
        try {
            if (!running.await(END_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("A thread is still waiting for the store");
            }
        } catch (InterruptedException e) {
            // A second interrupt: the caller does not want to wait.
            LOG.debug("Interrupted again", e);
        }
    }

    /** The pieces that are left, for all threads. */
    private static final class Run<R> implements Runnable {

        private final int pieces;
        private final Supplier<? extends PieceWorker<R>> workers;
        private final Consumer<? super R> results;
        private final AtomicInteger next = new AtomicInteger();
        private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

        Run(int pieces, Supplier<? extends PieceWorker<R>> workers, Consumer<? super R> results) {
            this.pieces = pieces;
            this.workers = workers;
            this.results = results;
        }

        @Override
        public void run() {
            try (PieceWorker<R> worker = workers.get()) {
                for (int piece = next.getAndIncrement(); piece < pieces; piece = next.getAndIncrement()) {
                    R result = worker.run(piece);
                    synchronized (this) {
                        results.accept(result);
                    }
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
                stop();
            }
        }

        void stop() {
            next.set(pieces);
        }

        void rethrow() throws IOException, InterruptedException {
            Throwable cause = failure.get();
            if (cause instanceof IOException e) {
                throw e;
            }
            if (cause instanceof InterruptedException e) {
                throw e;
            }
            if (cause != null) {
                throw new IllegalStateException("The work on a dataset broke off", cause);
            }
        }
    }
}

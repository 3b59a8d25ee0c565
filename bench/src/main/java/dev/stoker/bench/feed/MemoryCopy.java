package dev.stoker.bench.feed;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Copies in memory with all processors, between areas that are larger than their caches. */
final class MemoryCopy {
    private static final int AREA_BYTES = 64 << 20;

    private MemoryCopy() {}

    /** Returns copied bytes a second. */
    static double measure(Duration time) throws InterruptedException {
        int count = Runtime.getRuntime().availableProcessors();
        ExecutorService threads = Executors.newFixedThreadPool(count);
        try {
            List<Callable<Double>> tasks = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                tasks.add(() -> copy(time));
            }
            double rate = 0;
            for (Future<Double> done : threads.invokeAll(tasks)) {
                rate += done.get();
            }
            return rate;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        } finally {
            threads.shutdownNow();
        }
    }

    private static double copy(Duration time) {
        byte[] from = new byte[AREA_BYTES];
        byte[] to = new byte[AREA_BYTES];
        // The first copy gets the memory from the system.
        System.arraycopy(from, 0, to, 0, AREA_BYTES);
        long began = System.nanoTime();
        long copied = 0;
        do {
            System.arraycopy(from, 0, to, 0, AREA_BYTES);
            copied += AREA_BYTES;
        } while (System.nanoTime() - began < time.toNanos());
        return copied * 1e9 / (System.nanoTime() - began);
    }
}

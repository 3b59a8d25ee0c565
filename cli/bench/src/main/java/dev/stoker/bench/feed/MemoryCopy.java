package dev.stoker.bench.feed;

import dev.stoker.bench.measure.Progress;
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
    /** More than a processor's caches. */
    private static final int AREA_BYTES = 64 << 20;
    /** On a machine with many processors, the areas of all must fit into the heap. */
    private static final int LEAST_AREA_BYTES = 4 << 20;

    private MemoryCopy() {}

    /** Returns the size of an area, of which each processor has two: at most a quarter of the heap together. */
    static int areaBytes(int processors, long heapBytes) {
        return (int) Math.max(LEAST_AREA_BYTES, Math.min(AREA_BYTES, heapBytes / 4 / 2 / processors));
    }

    /** Returns copied bytes a second; ends early if the user stops the measurement. */
    static double measure(Duration time, Progress progress) throws InterruptedException {
        int count = Runtime.getRuntime().availableProcessors();
        int area = areaBytes(count, Runtime.getRuntime().maxMemory());
        ExecutorService threads = Executors.newFixedThreadPool(count);
        try {
            List<Callable<Double>> tasks = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                tasks.add(() -> copy(area, time, progress));
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

    private static double copy(int area, Duration time, Progress progress) {
        byte[] from = new byte[area];
        byte[] to = new byte[area];
        // The first copy gets the memory from the system.
        System.arraycopy(from, 0, to, 0, area);
        long began = System.nanoTime();
        long copied = 0;
        do {
            System.arraycopy(from, 0, to, 0, area);
            copied += area;
        } while (System.nanoTime() - began < time.toNanos() && !progress.isStopped());
        return copied * 1e9 / (System.nanoTime() - began);
    }
}

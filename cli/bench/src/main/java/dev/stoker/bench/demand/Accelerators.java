package dev.stoker.bench.demand;

import dev.stoker.bench.measure.Progress;
import dev.stoker.bench.measure.Rounds;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.locks.LockSupport;

/**
 * Emulates accelerators: each takes a batch and then computes for the time of the shape, in which its thread sleeps.
 * The
 * next batches arrive meanwhile. For one thread, which starts one for each accelerator.
 *
 * <p>Utilization is the time of computation over all the time, as MLPerf Storage counts it. A sleep that ends late
 * counts as waiting, so the result is a little too low rather than too high.
 */
public final class Accelerators {

    /** Opens the batches of one of them. */
    public interface Source {
        DemandBatches open(int rank) throws IOException;
    }

    /** Time and sleep, which tests replace. */
    interface Clock {
        long nanoTime();

        /** Sleeps for this time, or ends earlier for no reason, as {@link LockSupport#parkNanos} does. */
        void park(long nanos);
    }

    /** What one accelerator has done in one round. */
    private static final class Tally {
        private long steps;
        private long samples;
        private long bytes;
        private long nanos;
    }

    private static final Clock SYSTEM = new Clock() {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void park(long nanos) {
            // Thread.sleep rounds up to whole milliseconds in Java 17.
            LockSupport.parkNanos(nanos);
        }
    };

    private final Shape shape;
    private final int count;
    private final int rounds;
    private final Duration time;
    private final Progress progress;
    private final Clock clock;

    /** @param time of all rounds together; a fifth of it passes before the first round */
    public Accelerators(Shape shape, int count, int rounds, Duration time, Progress progress) {
        this(shape, count, rounds, time, progress, SYSTEM);
    }

    Accelerators(Shape shape, int count, int rounds, Duration time, Progress progress, Clock clock) {
        this.shape = shape;
        this.count = count;
        this.rounds = rounds;
        this.time = time;
        this.progress = progress;
        this.clock = clock;
    }

    /** Runs them at the same time. */
    public AcceleratorRun run(String target, Source source) throws IOException, InterruptedException {
        List<DemandBatches> opened = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(count);
        try {
            for (int rank = 0; rank < count; rank++) {
                opened.add(source.open(rank));
            }
            Phaser start = new Phaser(count);
            List<Callable<List<Tally>>> tasks = new ArrayList<>();
            for (DemandBatches batches : opened) {
                tasks.add(() -> {
                    try {
                        return consume(batches, start);
                    } finally {
                        // The others must not wait for one that has failed.
                        start.forceTermination();
                    }
                });
            }
            List<List<Tally>> tallies = new ArrayList<>();
            for (Future<List<Tally>> done : threads.invokeAll(tasks)) {
                try {
                    tallies.add(done.get());
                } catch (ExecutionException e) {
                    if (e.getCause() instanceof RuntimeException cause) {
                        throw cause;
                    }
                    throw new IOException(e.getCause());
                }
            }
            return result(target, tallies);
        } finally {
            threads.shutdownNow();
            opened.forEach(DemandBatches::close);
        }
    }

    private List<Tally> consume(DemandBatches batches, Phaser start) throws InterruptedException {
        // All accelerators start together, after each one has received its first batch.
        batches.next();
        start.arriveAndAwaitAdvance();
        long round = time.toNanos() / (rounds + 1);
        List<Tally> tallies = new ArrayList<>();
        tally(batches, time.toNanos() / 5);
        for (int i = 0; i < rounds && (i == 0 || !progress.isStopped()); i++) {
            tallies.add(tally(batches, round));
        }
        return tallies;
    }

    /** Computes and takes batches; ends with the step that passes the time. */
    private Tally tally(DemandBatches batches, long nanos) throws InterruptedException {
        Tally tally = new Tally();
        long began = clock.nanoTime();
        do {
            compute();
            DemandBatches.Taken taken = batches.next();
            tally.steps++;
            tally.samples += taken.samples();
            tally.bytes += taken.bytes();
        } while (clock.nanoTime() - began < nanos && !progress.isStopped());
        tally.nanos = clock.nanoTime() - began;
        return tally;
    }

    private void compute() throws InterruptedException {
        long nanos = (long) (shape.computeSeconds() * 1e9);
        long began = clock.nanoTime();
        for (long left = nanos; left > 0; left = nanos - (clock.nanoTime() - began)) {
            clock.park(left);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    private AcceleratorRun result(String target, List<List<Tally>> tallies) {
        List<Double> utilization = new ArrayList<>();
        List<Double> samples = new ArrayList<>();
        List<Double> bytes = new ArrayList<>();
        int complete = tallies.stream().mapToInt(List::size).min().orElseThrow();
        for (int round = 0; round < complete; round++) {
            double computed = 0;
            double taken = 0;
            double received = 0;
            for (List<Tally> one : tallies) {
                Tally tally = one.get(round);
                double seconds = tally.nanos / 1e9;
                computed += tally.steps * shape.computeSeconds() / seconds / count;
                taken += tally.samples / seconds;
                received += tally.bytes / seconds;
            }
            utilization.add(Math.min(1, computed));
            samples.add(taken);
            bytes.add(received);
        }
        return new AcceleratorRun(
                shape, target, count, new Rounds(utilization), new Rounds(samples), new Rounds(bytes));
    }
}

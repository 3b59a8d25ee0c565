package dev.stoker.bench.storage;

import dev.stoker.bench.measure.Latencies;
import dev.stoker.bench.measure.Progress;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/** One round of one case: as many threads as reads at a time, each of which reads one block after the other. */
final class ReadRun {

    /**
     * What a round has read.
     *
     * @param bytes of whole blocks
     * @param nanos from the start until the last read has ended
     * @param latencies of single reads
     */
    record Outcome(long bytes, long nanos, Latencies latencies) {
        double bytesPerSecond() {
            return bytes * 1e9 / Math.max(1, nanos);
        }
    }

    private final ReadCase of;
    private final Blocks blocks;
    private final BlockSource source;
    private final Progress progress;

    ReadRun(ReadCase of, List<TestFile> files, BlockSource source, Progress progress) {
        this.of = of;
        this.blocks = new Blocks(files, of.blockBytes());
        this.source = source;
        this.progress = progress;
    }

    /** Reads until the time is over. Each thread reads at least one block. */
    Outcome run(Duration time, long seed, ExecutorService threads) throws IOException, InterruptedException {
        AtomicLong next = new AtomicLong();
        SplittableRandom seeds = new SplittableRandom(seed);
        List<BlockSource.Reader> readers = new ArrayList<>();
        for (int i = 0; i < of.depth(); i++) {
            // Their buffers must not be part of the time.
            readers.add(source.reader(of.blockBytes()));
        }
        List<Callable<Latencies>> tasks = new ArrayList<>();
        long began = System.nanoTime();
        long end = began + time.toNanos();
        for (BlockSource.Reader reader : readers) {
            SplittableRandom random = seeds.split();
            tasks.add(() -> read(reader, next, random, end));
        }
        Latencies all = new Latencies();
        for (Future<Latencies> done : threads.invokeAll(tasks)) {
            try {
                all.add(done.get());
            } catch (ExecutionException e) {
                throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
            }
        }
        return new Outcome(all.count() * of.blockBytes(), System.nanoTime() - began, all);
    }

    private Latencies read(BlockSource.Reader reader, AtomicLong next, SplittableRandom random, long end)
            throws IOException {
        Latencies latencies = new Latencies();
        long count = blocks.count();
        long now = System.nanoTime();
        do {
            long number = of.pattern() == ReadCase.Pattern.SEQUENTIAL
                    ? next.getAndIncrement() % count
                    : random.nextLong(count);
            reader.read(blocks.at(number));
            long then = System.nanoTime();
            latencies.record(then - now);
            now = then;
        } while (now < end && !progress.isStopped());
        return latencies;
    }
}

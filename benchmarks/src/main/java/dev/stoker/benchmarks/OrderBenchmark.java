package dev.stoker.benchmarks;

import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.ExpectedChunk;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.LaneEpoch;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.Piece;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamChunksBuilder;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.schemas.order.Window;
import dev.stoker.schemas.order.WindowSlice;
import java.util.Locale;
import java.util.UUID;

/**
 * Measures the time from a chunk table in memory to the rows of the first batch, at any position of an epoch of 10^6
 * chunks and 10^9 samples, and the heap that this takes.
 *
 * <pre>java -Xmx256m -cp … dev.stoker.benchmarks.OrderBenchmark [chunks]</pre>
 */
public final class OrderBenchmark {
    private static final int ROWS = 1000;
    private static final int LENGTH = 8 << 20;
    private static final int REPEATS = 7;

    private static long checksum;

    private OrderBenchmark() {}

    public static void main(String[] args) {
        int count = args.length > 0 ? Integer.parseInt(args[0]) : 1_000_000;
        System.out.printf(
                Locale.ROOT,
                "%,d chunks of %,d rows, heap limit %d MiB%n",
                count,
                ROWS,
                Runtime.getRuntime().maxMemory() >> 20);
        long before = usedBytes();
        long start = System.nanoTime();
        StreamChunks equal = chunks(count, ROWS, Shape.EQUAL);
        double loadMs = sinceMs(start);
        System.out.printf(
                Locale.ROOT, "chunk columns: %.0f MiB, %.0f ms%n", (usedBytes() - before) / 1048576.0, loadMs);
        System.out.println("first batch, ms: cold (first in this JVM), then best and worst of " + REPEATS);
        OrderSpec spec = new OrderSpec(42, 256, 16, 1L << 30, ShufflePolicy.WINDOW, LaneOrder.MIXED);
        measure("16 lanes, 1 GiB window", equal, spec);
        measure("1 lane, 1 GiB window", equal, lanes(spec, 1));
        measure(
                "1024 lanes, 64 GiB window",
                equal,
                new OrderSpec(42, 256, 1024, 64L << 30, ShufflePolicy.WINDOW, LaneOrder.MIXED));
        start = System.nanoTime();
        Fingerprint fingerprint = Fingerprint.of(new UUID(1, 2), 1, "train", equal, spec);
        System.out.printf(Locale.ROOT, "fingerprint: %.0f ms (%s)%n", sinceMs(start), fingerprint);
        equal = null;
        StreamChunks uneven = chunks(count, ROWS, Shape.UNEVEN);
        measure("16 lanes, uneven rows, removed rows, ghosts", uneven, spec);
        System.out.printf(
                Locale.ROOT, "heap in use at the end: %.0f MiB (checksum %d)%n", usedBytes() / 1048576.0, checksum);
    }

    /** Whether chunks have equal rows and lengths, or uneven ones, and removed rows and ghosts. */
    enum Shape {
        EQUAL,
        UNEVEN
    }

    private static OrderSpec lanes(OrderSpec spec, int lanes) {
        return new OrderSpec(
                spec.seed(), spec.batchSize(), lanes, spec.shuffleWindowBytes(), spec.shuffle(), spec.laneOrder());
    }

    static StreamChunks chunks(int count, int chunkRows, Shape shape) {
        StreamChunksBuilder builder = StreamChunks.builder(count);
        int[] removed = {1, 2, chunkRows / 13};
        for (int i = 0; i < count; i++) {
            UUID id = new UUID(0x0195_0000_0000_7000L + i, 0x8000_0000_0000_0000L + i);
            int spread = (int) (((i * 2654435761L) >>> 8) & 63) * chunkRows / ROWS;
            int rows = shape == Shape.EQUAL ? chunkRows : chunkRows - chunkRows / 20 + spread;
            int length = shape == Shape.EQUAL ? LENGTH : LENGTH + (int) (((i * 2246822519L) >>> 7) & 0xF_FFFF);
            ExpectedChunk file = new ExpectedChunk(length, 1, LENGTH / 64, 2, 2 * LENGTH / chunkRows);
            if (shape == Shape.EQUAL) {
                builder.addLive(i, id, rows, file);
            } else if (i % 11 == 0) {
                builder.addGhost(i, rows);
            } else if (i % 13 == 0) {
                builder.addLive(i, id, rows, removed, file);
            } else {
                builder.addLive(i, id, rows, file);
            }
        }
        return builder.build();
    }

    private static void measure(String name, StreamChunks chunks, OrderSpec spec) {
        long batches = new StreamOrder(chunks, spec).size().batches();
        long[] positions = {0, batches / 3, batches / 2, batches - 2, batches - 1};
        for (long position : positions) {
            double cold = firstBatchMs(chunks, spec, 7, position);
            double best = Double.MAX_VALUE;
            double worst = 0;
            for (int i = 0; i < REPEATS; i++) {
                double ms = firstBatchMs(chunks, spec, 8 + i, position);
                best = Math.min(best, ms);
                worst = Math.max(worst, ms);
            }
            System.out.printf(
                    Locale.ROOT,
                    "%-44s batch %,13d of %,d: %6.1f  %6.1f  %6.1f%n",
                    name,
                    position,
                    batches,
                    cold,
                    best,
                    worst);
        }
    }

    /** Computes lanes, one epoch, and the rows of one batch, only from the chunk columns. */
    private static double firstBatchMs(StreamChunks chunks, OrderSpec spec, long epoch, long number) {
        long start = System.nanoTime();
        EpochOrder order = new StreamOrder(chunks, spec).epoch(epoch);
        for (Piece piece : order.batch(number)) {
            LaneEpoch lane = order.lane(piece.lane());
            for (WindowSlice slice : lane.slices(piece.firstRow(), piece.rows())) {
                Window window = lane.window(slice.window());
                for (int i = slice.from(); i < slice.to(); i++) {
                    checksum += chunks.ordinal(window.chunkAt(i)) * 31 + window.rowAt(i);
                }
            }
        }
        return sinceMs(start);
    }

    private static double sinceMs(long startNs) {
        return (System.nanoTime() - startNs) / 1e6;
    }

    private static long usedBytes() {
        Runtime runtime = Runtime.getRuntime();
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return runtime.totalMemory() - runtime.freeMemory();
    }
}

package dev.stoker.benchmarks;

import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.LaneEpoch;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.order.Window;
import dev.stoker.schemas.order.WindowSlice;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Locale;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Measures what {@code stoker why} computes at 10^9 samples once the version is open: the lanes, the rows of a step of
 * one rank and of eight, and the batch of a sample. Each answer is for another epoch, so nothing is known before.
 * Reading the heads of at most some tens of chunks, and the sample index, comes on top.
 *
 * <pre>java -Xmx4g -cp … dev.stoker.benchmarks.WhyBenchmark [rows of a chunk …]</pre>
 */
public final class WhyBenchmark {
    private static final long SAMPLES = 1_000_000_000L;
    private static final int REPEATS = 7;
    private static final int RANKS = 8;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private static long epoch;
    private static long checksum;

    private WhyBenchmark() {}

    public static void main(String[] args) {
        System.out.println("ms of CPU time: cold (first in this JVM), then best and worst of " + REPEATS);
        int[] sizes = args.length == 0
                ? new int[] {1000, 75}
                : Stream.of(args).mapToInt(Integer::parseInt).toArray();
        for (int rows : sizes) {
            int count = (int) (SAMPLES / rows);
            for (OrderBenchmark.Shape shape : OrderBenchmark.Shape.values()) {
                StreamChunks chunks = OrderBenchmark.chunks(count, rows, shape);
                for (int lanes : new int[] {16, 1}) {
                    OrderSpec spec = new OrderSpec(42, 256, lanes, 1L << 30, ShufflePolicy.WINDOW, LaneOrder.MIXED);
                    measure(String.format(Locale.ROOT, "%,d chunks, %s, %d lanes", count, shape, lanes), chunks, spec);
                }
            }
        }
        System.out.println("checksum " + checksum);
    }

    private static void measure(String name, StreamChunks chunks, OrderSpec spec) {
        StreamOrder order = new StreamOrder(chunks, spec);
        long steps = order.size().batches() / RANKS;
        print(name + ": lanes", () -> new StreamOrder(chunks, spec).size().batches());
        print(name + ": step of one rank", () -> step(order, steps / 3, 1));
        print(name + ": step of eight ranks", () -> step(order, steps / 3, RANKS));
        print(name + ": last step of eight ranks", () -> step(order, steps, RANKS));
        print(name + ": key", () -> key(order));
    }

    private static long step(StreamOrder stream, long step, int ranks) {
        EpochOrder order = stream.epoch(epoch++);
        long sum = 0;
        for (int rank = 0; rank < ranks; rank++) {
            Delivery delivery = new Delivery(stream.size(), TailPolicy.PAD, Participant.rank(rank, RANKS), 0);
            long number = delivery.number(Math.min(step, delivery.steps() - 1));
            for (DeliveredPiece piece :
                    Delivery.batch(order.numbering(), TailPolicy.PAD, number).pieces()) {
                LaneEpoch lane = order.lane(piece.lane());
                for (WindowSlice slice : lane.slices(piece.firstRow(), piece.rows())) {
                    Window window = lane.window(slice.window());
                    for (int i = slice.from(); i < slice.to(); i++) {
                        sum += stream.chunks().ordinal(window.chunkAt(i)) * 31 + window.rowAt(i);
                    }
                }
            }
        }
        return sum;
    }

    private static long key(StreamOrder stream) {
        EpochOrder order = stream.epoch(epoch++);
        int chunk = (int) (epoch * 7919 % order.stream().chunks().size());
        while (!stream.chunks().isLive(chunk)) {
            chunk++;
        }
        LaneEpoch lane = order.lane(stream.laneOf(chunk));
        Window window = lane.window(lane.windowOfChunk(chunk));
        for (int i = 0; i < window.rows(); i++) {
            if (window.chunkAt(i) == chunk) {
                long row = window.firstRow() + i;
                return order.numbering().batchOf(lane.lane(), row);
            }
        }
        throw new IllegalStateException("chunk " + chunk);
    }

    private static void print(String name, LongSupplier work) {
        double cold = cpuMs(work);
        double best = Double.MAX_VALUE;
        double worst = 0;
        for (int i = 0; i < REPEATS; i++) {
            double ms = cpuMs(work);
            best = Math.min(best, ms);
            worst = Math.max(worst, ms);
        }
        System.out.printf(Locale.ROOT, "%-64s %7.1f  %7.1f  %7.1f%n", name, cold, best, worst);
    }

    private static double cpuMs(LongSupplier work) {
        long start = THREADS.getCurrentThreadCpuTime();
        checksum += work.getAsLong();
        return (THREADS.getCurrentThreadCpuTime() - start) / 1e6;
    }
}

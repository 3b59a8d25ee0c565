package dev.stoker.benchmarks;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.batch.BatchBuilder;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;

/**
 * Measures packing, opening and verifying chunks and making batches in memory, on one thread. It counts CPU time, which
 * other load on the machine hardly changes, of the fastest of the rounds of two seconds.
 *
 * <pre>java -cp … dev.stoker.benchmarks.FormatBenchmark [bytes of a sample]</pre>
 */
public final class FormatBenchmark {
    private static final List<Field> FIELDS =
            List.of(Field.small("label", ScalarType.CATEGORICAL), Field.payload("data", ScalarType.BINARY));
    private static final int CHUNK = 8 << 20;
    private static final int CHUNKS = 8;
    private static final int BATCH = 64;
    private static final long MEASURE_NS = 2_000_000_000L;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final int sampleBytes;
    private final int rows;
    private final byte[] noise = new byte[1 << 21];
    private final ChunkBuilder builder = new ChunkBuilder(FIELDS, CHUNK);
    private long checksum;

    private FormatBenchmark(int sampleBytes) {
        this.sampleBytes = sampleBytes;
        this.rows = Math.max(1, CHUNK / (sampleBytes + 64));
        new Random(1).nextBytes(noise);
    }

    public static void main(String[] args) throws IOException {
        new FormatBenchmark(args.length > 0 ? Integer.parseInt(args[0]) : 4096).run();
    }

    private void run() throws IOException {
        System.out.printf(Locale.ROOT, "samples of %,d bytes, %,d in a chunk%n", sampleBytes, rows);
        int[] lengths =
                new Random(2).ints(4096, sampleBytes / 2, sampleBytes * 2).toArray();
        print("combine two sums", best(() -> combine(lengths)) / (64.0 * lengths.length), "ns");
        double pack = best(() -> checksum += pack(0).summary().crc32c()) / rows;
        print("pack a sample", pack, "ns");
        print("pack", sampleBytes / pack, "GB/s");

        BatchBuilder batches = new BatchBuilder(FIELDS);
        BatchChunk[] chunks = new BatchChunk[CHUNKS];
        for (int n = 0; n < CHUNKS; n++) {
            PackedChunk packed = pack(n);
            ByteBuffer file = ByteBuffer.allocateDirect((int) packed.summary().length());
            packed.buffers().forEach(part -> file.put(part.duplicate()));
            file.flip();
            RangeReader reader = new BufferRangeReader("chunk", file);
            ChunkHead head = ChunkReader.readHead(reader, packed.summary());
            chunks[n] = batches.chunk(head, file, 0, new int[][] {new int[10], null});
            if (n == 0) {
                print("open a head", best(() -> ChunkReader.readHead(reader, packed.summary())) / 1e3, "us");
                print("verify", file.limit() / best(() -> ChunkReader.verify(reader)), "GB/s");
            }
        }
        int[] chunkOf = new Random(3).ints(BATCH * 64, 0, CHUNKS).toArray();
        int[] rowOf = new Random(4).ints(BATCH * 64, 0, rows).toArray();
        ByteBuffer scratch = ByteBuffer.allocateDirect(1 << 20);
        double batch = best(() -> {
            for (int i = 0; i < chunkOf.length; i += BATCH) {
                checksum += batches.build(chunks, chunkOf, rowOf, i, i + BATCH, size -> scratch.clear())
                        .crc32c();
            }
        });
        print("make a batch of " + BATCH, batch / 64 / 1e3, "us");
        System.out.println("(checksum " + checksum + ")");
    }

    private void combine(int[] lengths) {
        int crc = 1;
        for (int repeat = 0; repeat < 64; repeat++) {
            for (int length : lengths) {
                crc = Crc32cs.combine(crc, length * 31, length);
            }
        }
        checksum += crc;
    }

    private PackedChunk pack(int n) {
        builder.reset();
        for (int row = 0; row < rows; row++) {
            builder.beginRow("train/n01440764/image_" + n + "_" + row + ".jpg");
            builder.setClass(0, "class " + row % 10);
            builder.reserve(1, sampleBytes).put(noise, row * 997 % (noise.length - sampleBytes), sampleBytes);
            builder.commit(1, sampleBytes);
            builder.endRow();
        }
        return builder.finish(new ChunkIdentity(new UUID(1, 1), new UUID(2, n), "benchmark", "train", Instant.EPOCH));
    }

    /** CPU nanoseconds of the fastest round. */
    private static double best(Work work) throws IOException {
        long best = Long.MAX_VALUE;
        long end = System.nanoTime() + MEASURE_NS;
        while (System.nanoTime() < end) {
            long start = THREADS.getCurrentThreadCpuTime();
            work.run();
            best = Math.min(best, THREADS.getCurrentThreadCpuTime() - start);
        }
        return best;
    }

    private static void print(String what, double value, String unit) {
        System.out.printf(Locale.ROOT, "%-24s %10.2f %s%n", what, value, unit);
    }

    @FunctionalInterface
    private interface Work {
        void run() throws IOException;
    }
}

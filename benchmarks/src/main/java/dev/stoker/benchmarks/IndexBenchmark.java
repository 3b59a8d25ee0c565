package dev.stoker.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.index.build.IndexBuild;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Measures the sample index on a generated dataset with small samples: building it, appending to it, opening it, and
 * looking up random keys with one and two threads.
 *
 * <pre>java -cp … dev.stoker.benchmarks.IndexBenchmark DIRECTORY [samples [open]]</pre>
 *
 * The dataset is kept in the directory; a second run uses it again. With {@code open}, it only opens the newest version
 * of an existing dataset and looks up one sample, five times; the first time includes the loading of classes.
 */
public final class IndexBenchmark {
    private static final List<Field> FIELDS =
            List.of(Field.small("label", ScalarType.INT32), Field.payload("data", ScalarType.BINARY));
    private static final int CHUNK_ROWS = 10_000;
    private static final int WANTED = 1 << 20;
    private static final long ROUND_NS = 2_000_000_000L;
    private static final int ROUNDS = 5;
    private static final int THREADS = 2;
    private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final Path directory;
    private final int samples;

    private IndexBenchmark(Path directory, int samples) {
        this.directory = directory;
        this.samples = samples;
    }

    public static void main(String[] args) throws Exception {
        IndexBenchmark benchmark =
                new IndexBenchmark(Path.of(args[0]), args.length > 1 ? Integer.parseInt(args[1]) : 10_000_000);
        if (args.length > 2 && args[2].equals("open")) {
            benchmark.open();
        } else {
            benchmark.run();
        }
    }

    private String key(int number) {
        return key(number, samples);
    }

    /** Returns the key of a sample of a generated dataset. The samples of a chunk have keys from all over the range. */
    static String key(int number, int samples) {
        long place = number * 7_368_787L % samples;
        return String.format(Locale.ROOT, "train/n%05d/%08d.jpg", place % 1000, place);
    }

    private void run() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try (ObjectStore store = new LocalObjectStore(directory)) {
            if (!Files.exists(directory.resolve(DatasetLayout.DATASET_JSON))) {
                generate(store);
            }
            Dataset dataset = Dataset.open(store);
            for (ObjectInfo run : store.list(DatasetLayout.INDEX).toList()) {
                store.delete(run.name());
            }
            long began = System.nanoTime();
            long cpu = PROCESS.getProcessCpuTime();
            IndexBuild.Result built = build(dataset, pool);
            print("build of " + built.rows() + " rows, " + THREADS + " threads", seconds(began), "s");
            print("  CPU time", (PROCESS.getProcessCpuTime() - cpu) / 1e9, "s");
            long bytes = store.list(DatasetLayout.INDEX).next().length();
            print("index bytes a sample beyond the key", (double) bytes / built.rows() - key(0).length(), "bytes");

            append(dataset);
            began = System.nanoTime();
            cpu = PROCESS.getProcessCpuTime();
            build(dataset, pool);
            print("append of " + CHUNK_ROWS, seconds(began), "s");
            print("  CPU time", (PROCESS.getProcessCpuTime() - cpu) / 1e9, "s");

            Random random = new Random(3);
            String[] wanted = new String[WANTED];
            for (int i = 0; i < WANTED; i++) {
                wanted[i] = key(random.nextInt(samples));
            }
            for (int round = 0; round < 3; round++) {
                Snapshot snapshot = dataset.snapshot();
                began = System.nanoTime();
                SampleIndex opened = SampleIndex.open(dataset, snapshot);
                if (opened.stat(wanted[round]).isEmpty()) {
                    throw new IllegalStateException("no sample " + wanted[round]);
                }
                print("open the index, then the first stat", 1e3 * seconds(began), "ms");
            }
            SampleIndex index = SampleIndex.open(dataset, dataset.snapshot());
            Rate one = best(pool, index, wanted, 1);
            Rate two = best(pool, index, wanted, THREADS);
            print("stat, 1 thread", one.perSecond() / 1e6, "million/s");
            print("  of CPU time", one.perCpuSecond() / 1e6, "million/s");
            print("stat, " + THREADS + " threads", two.perSecond() / 1e6, "million/s");
            print("  of CPU time of a thread", two.perCpuSecond() / 1e6, "million/s");
            print("ratio", two.perSecond() / one.perSecond(), "");
        } finally {
            pool.shutdownNow();
        }
    }

    private void open() throws IOException {
        Random random = new Random(3);
        for (int round = 0; round < ROUNDS; round++) {
            String wanted = key(random.nextInt(samples));
            long began = System.nanoTime();
            try (ObjectStore store = new LocalObjectStore(directory)) {
                Dataset dataset = Dataset.open(store);
                Snapshot snapshot = dataset.snapshot();
                double opened = 1e3 * seconds(began);
                if (SampleIndex.open(dataset, snapshot).stat(wanted).isEmpty()) {
                    throw new IllegalStateException("no sample " + wanted);
                }
                print("open a version", opened, "ms");
                print("open a version, then the first stat", 1e3 * seconds(began), "ms");
            }
        }
    }

    private static IndexBuild.Result build(Dataset dataset, ExecutorService pool) throws Exception {
        BuildThreads threads = new BuildThreads(pool, THREADS, BuildThreads.defaultMemory());
        return new IndexBuild(dataset, threads, read -> {}).update();
    }

    private static double seconds(long began) {
        return (System.nanoTime() - began) / 1e9;
    }

    private static void print(String what, double value, String unit) {
        System.out.printf(Locale.ROOT, "%-45s %10.3f %s%n", what, value, unit);
    }

    /**
     * A rate of look-ups.
     *
     * @param perSecond of all threads together
     * @param perCpuSecond of CPU time of one thread, which other load on the machine changes less
     */
    private record Rate(double perSecond, double perCpuSecond) {}

    /** Returns the best rates of all rounds. */
    private static Rate best(ExecutorService pool, SampleIndex index, String[] wanted, int threads) throws Exception {
        double best = 0;
        double bestCpu = 0;
        for (int round = 0; round < ROUNDS; round++) {
            List<Callable<Rate>> tasks = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int start = t * WANTED / threads;
                tasks.add(() -> rate(index, wanted, start));
            }
            double sum = 0;
            for (Future<Rate> task : pool.invokeAll(tasks)) {
                sum += task.get().perSecond();
                bestCpu = Math.max(bestCpu, task.get().perCpuSecond());
            }
            best = Math.max(best, sum);
        }
        return new Rate(best, bestCpu);
    }

    private static Rate rate(SampleIndex index, String[] wanted, int start) throws IOException {
        long began = System.nanoTime();
        long beganCpu = CPU.getCurrentThreadCpuTime();
        long count = 0;
        int at = start;
        do {
            for (int i = 0; i < 1024; i++) {
                if (index.stat(wanted[at++ & (WANTED - 1)]).isEmpty()) {
                    throw new IllegalStateException("a sample is missing");
                }
            }
            count += 1024;
        } while (System.nanoTime() - began < ROUND_NS);
        return new Rate(count / seconds(began), count / ((CPU.getCurrentThreadCpuTime() - beganCpu) / 1e9));
    }

    private void generate(ObjectStore store) throws IOException {
        DatasetInfo info = new DatasetInfo(UUID.randomUUID(), "index", now(), FIELDS, Map.of());
        Dataset dataset = Dataset.create(store, info);
        List<ChunkSummary> chunks = new ArrayList<>();
        for (int first = 0; first < samples; first += CHUNK_ROWS) {
            List<String> keys = new ArrayList<>();
            for (int n = first; n < Math.min(samples, first + CHUNK_ROWS); n++) {
                keys.add(key(n));
            }
            chunks.add(write(store, info, "generate", keys));
        }
        committer(dataset).commit(VersionRequest.append("generate", chunks, Map.of(), Map.of()));
    }

    private static void append(Dataset dataset) throws IOException {
        String ingest = "append-" + dataset.latestVersion();
        List<String> keys = new ArrayList<>();
        for (int n = 0; n < CHUNK_ROWS; n++) {
            keys.add(ingest + "/" + n);
        }
        ChunkSummary chunk = write(dataset.store(), dataset.info(), ingest, keys);
        committer(dataset).commit(VersionRequest.append(ingest, List.of(chunk), Map.of(), Map.of()));
    }

    private static Instant now() {
        return Instant.ofEpochMilli(System.currentTimeMillis());
    }

    private static VersionCommitter committer(Dataset dataset) {
        return new VersionCommitter(dataset, InstantSource.system(), "benchmark");
    }

    private static ChunkSummary write(ObjectStore store, DatasetInfo info, String ingest, List<String> keys)
            throws IOException {
        ChunkBuilder builder = new ChunkBuilder(FIELDS, 1 << 20);
        for (int n = 0; n < keys.size(); n++) {
            builder.beginRow(keys.get(n));
            builder.setLong(0, n);
            builder.setBytes(1, ByteBuffer.allocate(Long.BYTES).putLong(0, n));
            builder.endRow();
        }
        UUID id = ChunkNames.newId(System.currentTimeMillis(), new Random());
        PackedChunk chunk = builder.finish(new ChunkIdentity(info.id(), id, ingest, "train", now()));
        try (ObjectWriter writer = store.write(ChunkNames.path(id))) {
            for (ByteBuffer part : chunk.buffers()) {
                writer.write(part.duplicate());
            }
            writer.commit();
        }
        return chunk.summary();
    }
}

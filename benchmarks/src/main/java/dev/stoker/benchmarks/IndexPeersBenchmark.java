package dev.stoker.benchmarks;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import redis.embedded.RedisServer;

/**
 * Looks up random keys in the sample index, in Redis and in RocksDB, one after the other in each round, with one
 * thread. All have the same keys; the values of the others have the 16 bytes that the index stores about a sample.
 *
 * <pre>java -cp … dev.stoker.benchmarks.IndexPeersBenchmark DIRECTORY</pre>
 *
 * The directory has the dataset of {@link IndexBenchmark}.
 */
public final class IndexPeersBenchmark {
    private static final int WANTED = 1 << 19;
    private static final int BATCH = 10_000;
    private static final int PIPELINED = 100;
    private static final long ROUND_NS = 2_000_000_000L;
    private static final int ROUNDS = 5;
    private static final int WARM_ROUNDS = 1;
    private static final int CACHE_BYTES = 1 << 30;
    private static final int BLOOM_BITS = 10;

    private final int samples;
    private final byte[][] wanted = new byte[WANTED][];
    private final String[] texts = new String[WANTED];

    private IndexPeersBenchmark(int samples) {
        this.samples = samples;
        Random random = new Random(3);
        for (int i = 0; i < WANTED; i++) {
            wanted[i] = bytes(random.nextInt(samples));
            texts[i] = new String(wanted[i], StandardCharsets.UTF_8);
        }
    }

    /** Looks up some keys, from one of the wanted ones on, and returns how many. */
    @FunctionalInterface
    private interface Lookups {
        int run(int at) throws Exception;
    }

    /**
     * A way to look up.
     *
     * @param name for the report
     * @param lookups looks up
     */
    private record Way(String name, Lookups lookups) {}

    public static void main(String[] args) throws Exception {
        int samples = args.length > 1 ? Integer.parseInt(args[1]) : 10_000_000;
        new IndexPeersBenchmark(samples).run(Path.of(args[0]));
    }

    private byte[] bytes(int number) {
        return IndexBenchmark.key(number, samples).getBytes(StandardCharsets.UTF_8);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private void run(Path directory) throws Exception {
        RocksDB.loadLibrary();
        Path scratch = Files.createTempDirectory("index-peers-");
        int port = freePort();
        RedisServer server = RedisServer.newRedisServer()
                .port(port)
                .setting("save \"\"")
                .setting("appendonly no")
                .build();
        server.start();
        try (ObjectStore store = new LocalObjectStore(directory);
                Jedis redis = new Jedis("127.0.0.1", port);
                LRUCache cache = new LRUCache(CACHE_BYTES);
                BloomFilter bloom = new BloomFilter(BLOOM_BITS);
                Options options = new Options()
                        .setCreateIfMissing(true)
                        .setTableFormatConfig(
                                new BlockBasedTableConfig().setBlockCache(cache).setFilterPolicy(bloom))) {
            Dataset dataset = Dataset.open(store);
            load(redis, options, scratch);
            try (RocksDB rocks = RocksDB.openReadOnly(options, scratch.toString())) {
                compare(SampleIndex.open(dataset, dataset.snapshot()), redis, rocks);
            }
        } finally {
            server.stop();
            RocksDB.destroyDB(scratch.toString(), new Options());
        }
    }

    private void load(Jedis redis, Options options, Path scratch) throws RocksDBException {
        try (RocksDB rocks = RocksDB.open(options, scratch.toString());
                WriteOptions write = new WriteOptions().setDisableWAL(true)) {
            for (int first = 0; first < samples; first += BATCH) {
                Pipeline pipeline = redis.pipelined();
                try (WriteBatch batch = new WriteBatch()) {
                    for (int n = first; n < Math.min(samples, first + BATCH); n++) {
                        byte[] value =
                                ByteBuffer.allocate(4 * Integer.BYTES).putInt(n).array();
                        pipeline.set(bytes(n), value);
                        batch.put(bytes(n), value);
                    }
                    pipeline.sync();
                    rocks.write(write, batch);
                }
            }
            rocks.compactRange();
        }
    }

    private void compare(SampleIndex index, Jedis redis, RocksDB rocks) throws Exception {
        List<Way> ways = List.of(
                new Way("index", at -> {
                    for (int i = 0; i < PIPELINED; i++) {
                        require(index.stat(texts[(at + i) & (WANTED - 1)]).isPresent());
                    }
                    return PIPELINED;
                }),
                new Way("RocksDB", at -> {
                    for (int i = 0; i < PIPELINED; i++) {
                        require(rocks.get(key(at + i)) != null);
                    }
                    return PIPELINED;
                }),
                new Way("Redis, " + PIPELINED + " in a pipeline", at -> {
                    Pipeline pipeline = redis.pipelined();
                    List<Response<byte[]>> answers = new ArrayList<>();
                    for (int i = 0; i < PIPELINED; i++) {
                        answers.add(pipeline.get(key(at + i)));
                    }
                    pipeline.sync();
                    for (Response<byte[]> answer : answers) {
                        require(answer.get() != null);
                    }
                    return PIPELINED;
                }),
                new Way("Redis, one by one", at -> {
                    require(redis.get(key(at)) != null);
                    return 1;
                }));
        double[][] rates = new double[ways.size()][ROUNDS];
        for (int round = -WARM_ROUNDS; round < ROUNDS; round++) {
            for (int way = 0; way < ways.size(); way++) {
                double rate = rate(ways.get(way).lookups);
                if (round >= 0) {
                    rates[way][round] = rate;
                }
            }
        }
        for (int way = 0; way < ways.size(); way++) {
            double[] ratios = new double[ROUNDS];
            for (int round = 0; round < ROUNDS; round++) {
                ratios[round] = rates[0][round] / rates[way][round];
            }
            Arrays.sort(ratios);
            Arrays.sort(rates[way]);
            System.out.printf(
                    Locale.ROOT,
                    "%-28s %9.0f/s (%.0f to %.0f), index over it %.2f (%.2f to %.2f)%n",
                    ways.get(way).name,
                    rates[way][ROUNDS / 2],
                    rates[way][0],
                    rates[way][ROUNDS - 1],
                    ratios[ROUNDS / 2],
                    ratios[0],
                    ratios[ROUNDS - 1]);
        }
    }

    private byte[] key(int at) {
        return wanted[at & (WANTED - 1)];
    }

    private static void require(boolean isFound) {
        if (!isFound) {
            throw new IllegalStateException("a key is missing");
        }
    }

    private static double rate(Lookups lookups) throws Exception {
        long began = System.nanoTime();
        long count = 0;
        while (System.nanoTime() - began < ROUND_NS) {
            count += lookups.run((int) count);
        }
        return count / ((System.nanoTime() - began) / 1e9);
    }
}

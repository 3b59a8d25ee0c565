package dev.stoker.redis;

import dev.stoker.metadata.ChunkHeads;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ParallelChunks;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.index.PlaceHints;
import dev.stoker.metadata.work.Workers;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.authentication.core.Token;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The places of a dataset's samples in a Redis server. The key {@code stoker:sample:<dataset id>:<key of the sample>}
 * has the value {@code <ordinal of the chunk> <row>} as text. {@code stoker:loaded:<dataset id>} has the newest version
 * of which all places were loaded. Thread-safe.
 */
public final class RedisPlaces implements PlaceHints {

    /**
     * Classes of this package and of the libraries that it needs, one of each. A cluster gets their jars only if it
     * loads places, so they are not in the jar of the jobs.
     */
    public static List<Class<?>> classesOfJars() {
        return List.of(RedisPlaces.class, RedisClient.class, GenericObjectPool.class, Token.class);
    }

    /** What a load has done. */
    public record Loaded(long version, long chunks, long samples) {}

    private static final Logger LOG = LoggerFactory.getLogger(RedisPlaces.class);
    private static final Pattern PLACE = Pattern.compile("([0-9]{1,18}) ([0-9]{1,9})");
    private static final Pattern VERSION = Pattern.compile("[0-9]{1,18}");
    private static final int TIMEOUT_MS = 2000;

    /** After a failure, lookups do not ask the server for this time. */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Number of keys in one request. */
    private static final int TOGETHER = 1000;

    private final RedisClient client;
    private final String address;
    private final String url;
    private final String prefix;
    private final String loaded;
    private final LongSupplier nanoTime;
    private volatile @Nullable Long failed;

    private RedisPlaces(RedisClient client, String address, String url, UUID dataset, LongSupplier nanoTime) {
        this.client = client;
        this.address = address;
        this.url = url;
        this.prefix = "stoker:sample:" + dataset + ":";
        this.loaded = "stoker:loaded:" + dataset;
        this.nanoTime = nanoTime;
    }

    /**
     * Prepares the use of a server. Connects with the first request.
     *
     * @param url {@code redis://host:port} or {@code rediss://user:password@host:port/0}
     * @throws IllegalArgumentException if it is not such a URL
     */
    public static RedisPlaces open(String url, UUID dataset) {
        return open(url, dataset, System::nanoTime);
    }

    static RedisPlaces open(String url, UUID dataset, LongSupplier nanoTime) {
        URI uri;
        try {
            uri = new URI(url);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("not the URL of a Redis server", e);
        }
        boolean isRedis = "redis".equals(uri.getScheme()) || "rediss".equals(uri.getScheme());
        if (!isRedis || uri.getHost() == null || uri.getPort() < 0) {
            throw new IllegalArgumentException("the URL of a Redis server is redis://host:port or rediss://host:port");
        }
        DefaultJedisClientConfig config =
                DefaultJedisClientConfig.builder(uri).timeoutMillis(TIMEOUT_MS).build();
        RedisClient client = RedisClient.builder()
                .hostAndPort(uri.getHost(), uri.getPort())
                .clientConfig(config)
                .build();
        // Messages name the server without user and password.
        String server = uri.getScheme() + "://" + uri.getHost() + ":" + uri.getPort();
        return new RedisPlaces(client, url, server, dataset, nanoTime);
    }

    @Override
    public List<Optional<Place>> find(List<String> keys) {
        Long before = failed;
        if (before != null && nanoTime.getAsLong() - before < PAUSE_NANOS) {
            return unknown(keys);
        }
        List<Optional<Place>> places = new ArrayList<>(keys.size());
        try {
            for (int first = 0; first < keys.size(); first += TOGETHER) {
                List<String> part = keys.subList(first, Math.min(keys.size(), first + TOGETHER));
                byte[][] names = part.stream().map(this::name).toArray(byte[][]::new);
                client.mget(names).forEach(value -> places.add(place(value)));
            }
            failed = null;
            return places.size() == keys.size() ? places : unknown(keys);
        } catch (JedisException e) {
            LOG.warn("{} does not answer, so the sample index is used alone: {}", url, e.getMessage());
            failed = nanoTime.getAsLong();
            return unknown(keys);
        }
    }

    private static List<Optional<Place>> unknown(List<String> keys) {
        return Collections.nCopies(keys.size(), Optional.empty());
    }

    private byte[] name(String key) {
        return (prefix + key).getBytes(StandardCharsets.UTF_8);
    }

    private static Optional<Place> place(byte @Nullable [] value) {
        if (value == null || value.length > 32) {
            return Optional.empty();
        }
        Matcher matcher = PLACE.matcher(new String(value, StandardCharsets.ISO_8859_1));
        return matcher.matches()
                ? Optional.of(new Place(Long.parseLong(matcher.group(1)), Integer.parseInt(matcher.group(2))))
                : Optional.empty();
    }

    /**
     * Loads the places of a version. If an earlier version was loaded, loads only those of the chunks that were added
     * since. Places of removed samples stay: nobody finds a sample there.
     *
     * @param threads number of chunks to read at a time
     * @throws RedisUnavailableException if the server does not answer
     * @throws IOException if a chunk cannot be read
     */
    public Loaded load(Dataset dataset, Snapshot snapshot, int threads) throws IOException {
        try {
            ChunkTable table = snapshot.table();
            long before = loadedVersion();
            int[] chunks = chunksAfter(table, before);
            LongAdder samples = new LongAdder();
            ParallelChunks.forEach(chunks, threads, () -> chunk -> samples.add(load(dataset, table, chunk)));
            return loaded(snapshot, before, chunks, samples.sum());
        } catch (JedisException e) {
            throw new RedisUnavailableException(url, e);
        }
    }

    /**
     * Loads the places of a version in the same way, by workers that may be on other machines.
     *
     * @throws RedisUnavailableException if the server does not answer
     * @throws IOException if a chunk cannot be read
     */
    public Loaded load(Snapshot snapshot, Workers workers) throws IOException, InterruptedException {
        try {
            long before = loadedVersion();
            int[] chunks = chunksAfter(snapshot.table(), before);
            LongAdder samples = new LongAdder();
            workers.run(chunks.length, new PlacesLoad(address, snapshot.version(), chunks), samples::add);
            return loaded(snapshot, before, chunks, samples.sum());
        } catch (JedisException e) {
            throw new RedisUnavailableException(url, e);
        }
    }

    private static int[] chunksAfter(ChunkTable table, long version) {
        return IntStream.range(0, table.size())
                .filter(chunk -> table.isLive(chunk) && table.addedIn(chunk) > version)
                .toArray();
    }

    private Loaded loaded(Snapshot snapshot, long before, int[] chunks, long samples) {
        if (snapshot.version() > before) {
            client.set(loaded, Long.toString(snapshot.version()));
        }
        return new Loaded(snapshot.version(), chunks.length, samples);
    }

    /** Makes the next load write all places again. */
    public void forget() throws RedisUnavailableException {
        try {
            client.del(loaded);
        } catch (JedisException e) {
            throw new RedisUnavailableException(url, e);
        }
    }

    /** Returns the version that was loaded; 0 if the server says nothing or garbage. */
    private long loadedVersion() {
        byte[] value;
        try {
            value = client.get(loaded.getBytes(StandardCharsets.UTF_8));
        } catch (JedisDataException e) {
            // Something else has this name.
            client.del(loaded);
            return 0;
        }
        String text = value == null ? "" : new String(value, StandardCharsets.ISO_8859_1);
        return VERSION.matcher(text).matches() ? Long.parseLong(text) : 0;
    }

    /** Loads the places of a chunk, and returns the number of its samples. */
    long load(Dataset dataset, ChunkTable table, int chunk) throws IOException {
        ChunkHead head = ChunkHeads.read(dataset.store(), table, chunk);
        long samples = 0;
        try (Pipeline pipeline = client.pipelined()) {
            for (int row = 0; row < head.rows(); row++) {
                if (table.isLive(chunk, row)) {
                    String place = table.ordinal(chunk) + " " + row;
                    pipeline.set(name(head.key(row)), place.getBytes(StandardCharsets.ISO_8859_1));
                    samples++;
                    if (samples % TOGETHER == 0) {
                        requireStored(pipeline);
                    }
                }
            }
            requireStored(pipeline);
            return samples;
        } catch (JedisException e) {
            throw new RedisUnavailableException(url, e);
        }
    }

    /** Waits for the replies. A server that is full replies with errors. */
    private static void requireStored(Pipeline pipeline) {
        for (Object reply : pipeline.syncAndReturnAll()) {
            if (reply instanceof JedisDataException e) {
                throw e;
            }
        }
    }

    @Override
    public void close() {
        client.close();
    }
}

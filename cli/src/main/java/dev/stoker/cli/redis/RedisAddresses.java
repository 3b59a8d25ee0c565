package dev.stoker.cli.redis;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.chunks.ParallelChunks;
import dev.stoker.metadata.index.AddressHints;
import dev.stoker.metadata.work.Workers;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
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
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.ConnectionFactory;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.providers.PooledConnectionProvider;

/**
 * The places of a dataset's samples in a Redis server. The key {@code stoker:sample:<dataset id>:<key of the sample>}
 * has the value {@code <ordinal of the chunk> <row>} as text. {@code stoker:loaded:<dataset id>} has the newest version
 * of which all places were loaded. Thread-safe.
 */
public final class RedisAddresses implements AddressHints {

    /**
     * Classes of this package and of the libraries that it needs, one of each. A cluster gets their jars only if it
     * loads places, so they are not in the jar of the jobs.
     */
    public static List<Class<?>> classesOfJars() {
        return List.of(RedisAddresses.class, RedisClient.class, GenericObjectPool.class, Token.class);
    }

    /** What a load has done. */
    public record Loaded(long version, long chunks, long samples) {}

    private static final Logger LOG = LoggerFactory.getLogger(RedisAddresses.class);
    private static final Pattern PLACE = Pattern.compile("([0-9]{1,18}) ([0-9]{1,9})");
    private static final Pattern VERSION = Pattern.compile("[0-9]{1,18}");
    private static final int TIMEOUT_MS = 2000;
    /** Time for each request of a lookup after its first one. */
    private static final long NEXT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Threads that can use the server at a time; others wait. */
    private static final int CONNECTIONS = 128;

    /** After a failure, lookups do not ask the server for this time. */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Maximum number of keys in one request. */
    static final int TOGETHER = 1000;
    /** Bytes of keys after which a request ends. */
    private static final int REQUEST_BYTES = 64 << 10;

    private final RedisClient client;
    private final RedisSockets sockets;
    private final String address;
    private final String url;
    private final String prefix;
    private final String loaded;
    private final LongSupplier nanoTime;
    private volatile @Nullable Long failed;

    private RedisAddresses(URI uri, String address, UUID dataset, LongSupplier nanoTime) {
        DefaultJedisClientConfig config =
                DefaultJedisClientConfig.builder(uri).timeoutMillis(TIMEOUT_MS).build();
        this.sockets = new RedisSockets(uri.getHost(), uri.getPort(), config.isSsl(), TIMEOUT_MS);
        ConnectionPoolConfig pool = new ConnectionPoolConfig();
        pool.setMaxTotal(CONNECTIONS);
        this.client = RedisClient.builder()
                .hostAndPort(uri.getHost(), uri.getPort())
                .clientConfig(config)
                .connectionProvider(new PooledConnectionProvider(new ConnectionFactory(sockets, config), pool))
                .build();
        this.address = address;
        // Messages name the server without user and password.
        this.url = uri.getScheme() + "://" + uri.getHost() + ":" + uri.getPort();
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
    public static RedisAddresses open(String url, UUID dataset) {
        return open(url, dataset, System::nanoTime);
    }

    static RedisAddresses open(String url, UUID dataset, LongSupplier nanoTime) {
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
        return new RedisAddresses(uri, url, dataset, nanoTime);
    }

    @Override
    public List<Optional<Place>> find(List<String> keys) {
        Long before = failed;
        if (before != null && nanoTime.getAsLong() - before < PAUSE_NANOS) {
            return unknown(keys);
        }
        try {
            List<Optional<Place>> places = new ArrayList<>(keys.size());
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
            while (places.size() < keys.size()) {
                List<byte[]> names = names(keys.subList(places.size(), keys.size()));
                places.addAll(sockets.until(end, () -> ask(names)));
                end += NEXT_NANOS;
            }
            failed = null;
            return places;
        } catch (RuntimeException e) {
            // The client has no single type for an answer that it does not understand.
            LOG.warn("{} does not answer, so the sample index is used alone: {}", url, e.toString());
            failed = nanoTime.getAsLong();
            return unknown(keys);
        }
    }

    /** Returns the names of the first keys, as many as fit into one request. */
    private List<byte[]> names(List<String> keys) {
        List<byte[]> names = new ArrayList<>();
        int bytes = 0;
        for (int i = 0; i < Math.min(keys.size(), TOGETHER) && bytes < REQUEST_BYTES; i++) {
            byte[] name = name(keys.get(i));
            names.add(name);
            bytes += name.length;
        }
        return names;
    }

    private List<Optional<Place>> ask(List<byte[]> names) {
        CommandArguments command = new CommandArguments(Protocol.Command.MGET);
        names.forEach(command::key);
        Object reply = client.executeCommand(command);
        if (!(reply instanceof List<?> values) || values.size() != names.size()) {
            throw new JedisException("the answer to " + names.size() + " keys is not a list of as many values");
        }
        return values.stream().map(RedisAddresses::place).toList();
    }

    private static List<Optional<Place>> unknown(List<String> keys) {
        return Collections.nCopies(keys.size(), Optional.empty());
    }

    private byte[] name(String key) {
        return (prefix + key).getBytes(StandardCharsets.UTF_8);
    }

    private static Optional<Place> place(@Nullable Object reply) {
        if (!(reply instanceof byte[] value) || value.length > 32) {
            return Optional.empty();
        }
        Matcher matcher = PLACE.matcher(new String(value, StandardCharsets.ISO_8859_1));
        return matcher.matches()
                ? Optional.of(new Place(Long.parseLong(matcher.group(1)), Integer.parseInt(matcher.group(2))))
                : Optional.empty();
    }

    /**
     * Loads the places of a version. If an earlier version was loaded, loads only the places in chunks that were
     * added since. Places of removed samples stay, and lookups ignore them.
     *
     * @param threads number of chunks to read at a time
     * @throws StokerException if the server does not answer
     * @throws IOException if a chunk cannot be read
     */
    public Loaded load(Dataset dataset, Snapshot snapshot, int threads) throws IOException {
        ChunkTable table = snapshot.table();
        long before = loadedVersion();
        int[] chunks = chunksAfter(table, before);
        LongAdder samples = new LongAdder();
        ParallelChunks.forEach(chunks, threads, () -> chunk -> samples.add(load(dataset, table, chunk)));
        return loaded(snapshot, before, chunks, samples.sum());
    }

    /**
     * Loads the places of a version in the same way, by workers that may be on other machines.
     *
     * @throws StokerException if the server does not answer
     * @throws IOException if a chunk cannot be read
     */
    public Loaded load(Snapshot snapshot, Workers workers) throws IOException, InterruptedException {
        long before = loadedVersion();
        int[] chunks = chunksAfter(snapshot.table(), before);
        LongAdder samples = new LongAdder();
        workers.run(chunks.length, new AddressLoad(address, snapshot.version(), chunks), samples::add);
        return loaded(snapshot, before, chunks, samples.sum());
    }

    private static int[] chunksAfter(ChunkTable table, long version) {
        return IntStream.range(0, table.size())
                .filter(chunk -> table.isLive(chunk) && table.addedIn(chunk) > version)
                .toArray();
    }

    private Loaded loaded(Snapshot snapshot, long before, int[] chunks, long samples) throws StokerException {
        if (snapshot.version() > before) {
            talk(() -> client.set(loaded, Long.toString(snapshot.version())));
        }
        return new Loaded(snapshot.version(), chunks.length, samples);
    }

    /** Makes the next load write all places again. */
    public void forget() throws StokerException {
        talk(() -> client.del(loaded));
    }

    /** Returns the version that was loaded; 0 if the server says nothing or garbage. */
    private long loadedVersion() throws StokerException {
        Object value = talk(() -> {
            try {
                return client.executeCommand(new CommandArguments(Protocol.Command.GET).key(loaded));
            } catch (JedisDataException e) {
                // Something else has this name.
                return client.del(loaded);
            }
        });
        String text = value instanceof byte[] bytes ? new String(bytes, StandardCharsets.ISO_8859_1) : "";
        return VERSION.matcher(text).matches() ? Long.parseLong(text) : 0;
    }

    /** Loads the places of a chunk, and returns the number of its samples. */
    long load(Dataset dataset, ChunkTable table, int chunk) throws IOException {
        ChunkHead head = ChunkHeads.read(dataset.store(), table, chunk);
        return talk(() -> store(table, chunk, head));
    }

    private long store(ChunkTable table, int chunk, ChunkHead head) {
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

    /**
     * Runs a step that changes the server. The client has no single type for an answer that it does not understand.
     *
     * @throws StokerException if the server does not answer, or not as it should
     */
    private <T> T talk(RedisSockets.Step<T> step) throws StokerException {
        try {
            return step.run();
        } catch (RuntimeException e) {
            throw new StokerException(
                    url + " stores nothing: " + ErrorText.of(e) + "; check the server, or leave out --redis", e);
        }
    }

    @Override
    public void close() {
        client.close();
    }
}

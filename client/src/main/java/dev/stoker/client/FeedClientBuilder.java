package dev.stoker.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.client.errors.ConnectTimeoutException;
import dev.stoker.client.errors.FeedNotFoundException;
import dev.stoker.client.errors.FeedProtocolException;
import dev.stoker.client.errors.PlaceTakenException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.errors.TlsException;
import dev.stoker.client.errors.UnauthorizedException;
import dev.stoker.client.feeder.FeederSource;
import dev.stoker.client.lookup.SampleRequests;
import dev.stoker.client.source.BatchSource;
import dev.stoker.client.source.ClientOptions;
import dev.stoker.client.topic.TopicLog;
import dev.stoker.client.topic.TopicSource;
import dev.stoker.client.topic.TopicTarget;
import dev.stoker.client.transport.LocalTransport;
import dev.stoker.client.transport.Security;
import dev.stoker.client.transport.Target;
import dev.stoker.client.transport.Timing;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.text.Units;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the settings of a client. Every setting has a default. {@link #open} checks them and reports all problems
 * together. The settings of the order override the feed's defaults; the settings of the group's first client apply.
 */
public final class FeedClientBuilder {

    private final Optional<String> feed;
    private final ObjectNode order = Json.object();
    private static final Logger LOG = LoggerFactory.getLogger(FeedClientBuilder.class);

    private Map<String, String> environment = System.getenv();
    private Optional<String> stream = Optional.empty();
    private Optional<String> split = Optional.empty();
    private OptionalLong version = OptionalLong.empty();
    private String group = Hello.DEFAULT_GROUP;
    private Optional<Participant> participant = Optional.empty();
    private int replica;
    private int replicas = 1;
    private OptionalLong run = OptionalLong.empty();
    private TailPolicy tail = TailPolicy.PAD;
    private Optional<List<String>> columns = Optional.empty();
    private final List<SkipList.Range> skip = new ArrayList<>();
    private OptionalLong epochs = OptionalLong.empty();
    private OptionalInt epochBatches = OptionalInt.empty();
    private int concat = 1;
    private Optional<String> token = Optional.empty();
    private Optional<Path> tokenFile = Optional.empty();
    private Security.Trust trust = new Security.Trust.Unsaid();
    private Optional<Path> tlsCertificate = Optional.empty();
    private Optional<Path> tlsKey = Optional.empty();
    private Optional<String> tlsName = Optional.empty();
    private long bufferBytes = 256L << 20;
    private Duration connectTimeout = Duration.ofSeconds(30);
    private Duration reconnectTimeout = Duration.ofMinutes(10);
    private Duration batchTimeout = Duration.ofMinutes(5);
    private Optional<Duration> placeTimeout = Optional.empty();
    private Timing timing = Timing.STANDARD;
    private Optional<Supplier<TopicLog>> topicLogs = Optional.empty();

    FeedClientBuilder(Optional<String> feed) {
        this.feed = feed;
    }

    /** Chooses a stream of the feed; by default its first. */
    public FeedClientBuilder stream(String name) {
        stream = Optional.of(name);
        return this;
    }

    /** Requires this split: a stream of another split is refused. */
    public FeedClientBuilder split(String name) {
        split = Optional.of(name);
        return this;
    }

    /** Requires this version: a stream of another version is refused. */
    public FeedClientBuilder version(long number) {
        version = OptionalLong.of(number);
        return this;
    }

    /** Names the group: the trainers that share one pass over the stream. The default is {@code default}. */
    public FeedClientBuilder group(String name) {
        group = name;
        return this;
    }

    // ---- the order

    /** Sets the number of samples in a batch of one rank. */
    public FeedClientBuilder batchSize(int samples) {
        order.put("batch_size", samples);
        return this;
    }

    /** Sets the seed of the shuffle. */
    public FeedClientBuilder seed(long seed) {
        order.put("seed", seed);
        return this;
    }

    /** Sets the number of lanes. A stream with fewer chunks has fewer. */
    public FeedClientBuilder lanes(int count) {
        order.put("lanes", count);
        return this;
    }

    /** Sets the file bytes that are shuffled together, over all lanes. */
    public FeedClientBuilder shuffleWindow(long bytes) {
        order.put("shuffle_window", bytes);
        return this;
    }

    /** Sets how rows are permuted. {@code NONE} keeps the stored order. */
    public FeedClientBuilder shuffle(ShufflePolicy policy) {
        order.put("shuffle", policy.text());
        return this;
    }

    /** Sets how lanes take turns. */
    public FeedClientBuilder laneOrder(LaneOrder policy) {
        order.put("lane_order", policy.text());
        return this;
    }

    /** Sets keys of an order spec as JSON, in addition to the settings made before. */
    public FeedClientBuilder order(String json) {
        try {
            JsonNode keys = Json.PLAIN.readTree(json);
            if (!keys.isObject()) {
                throw new IllegalArgumentException("order spec: expected a JSON object");
            }
            keys.properties().forEach(key -> order.set(key.getKey(), key.getValue()));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("order spec is not JSON: " + e.getOriginalMessage(), e);
        }
        return this;
    }

    // ---- the reader

    /** Sets this trainer's rank. The default is {@code RANK} and {@code WORLD_SIZE}, or else a single rank. */
    public FeedClientBuilder rank(int rank, int worldSize) {
        participant = Optional.of(Participant.rank(rank, worldSize));
        return this;
    }

    /** Makes this client one of several readers of a rank. Each takes every {@code workers}-th batch. */
    public FeedClientBuilder worker(int rank, int worldSize, int worker, int workers) {
        participant = Optional.of(new Participant(rank, worldSize, worker, workers));
        return this;
    }

    /** Makes this client one of several that read the same batches. */
    public FeedClientBuilder replica(int number) {
        replica = number;
        return this;
    }

    /** Groups consecutive ranks that get the same batches: tensor and pipeline parallel ranks. */
    public FeedClientBuilder replicas(int inARow) {
        replicas = inARow;
        return this;
    }

    /**
     * Sets the launch that this trainer belongs to: at most 2^62, the same on all ranks. By default {@code STOKER_RUN},
     * or the feed decides.
     */
    public FeedClientBuilder run(long number) {
        run = OptionalLong.of(number);
        return this;
    }

    // ---- columns

    /**
     * Selects the columns to receive: names of fields, and {@code key} for the keys. The feeder sends no others. By
     * default all.
     */
    public FeedClientBuilder columns(String... names) {
        return columns(List.of(names));
    }

    /** Selects the columns to receive, see {@link #columns(String...)}. */
    public FeedClientBuilder columns(List<String> names) {
        columns = Optional.of(List.copyOf(names));
        return this;
    }

    // ---- epochs and steps

    /** Sets how an epoch ends; {@code PAD} by default. */
    public FeedClientBuilder tail(TailPolicy policy) {
        tail = policy;
        return this;
    }

    /**
     * Leaves out batches of an epoch by {@link Batch#number}, from the first to the last, both included. The ranks
     * divide the batches that are left. Can be called several times. All trainers of a group must leave out the same
     * batches.
     *
     * @throws IllegalArgumentException if this is no range
     */
    public FeedClientBuilder skip(long epoch, long first, long last) {
        skip.add(new SkipList.Range(epoch, first, last));
        return this;
    }

    /** Sets the number of epochs. Later epochs have no batches. */
    public FeedClientBuilder epochs(long count) {
        epochs = OptionalLong.of(count);
        return this;
    }

    /** Ends each {@link FeedClient#epoch} after this number of batches. The next one continues from there. */
    public FeedClientBuilder epochBatches(int count) {
        epochBatches = OptionalInt.of(count);
        return this;
    }

    /** Joins this number of batches into one, so that W ranks can take the steps of a multiple of W. */
    public FeedClientBuilder concat(int batches) {
        concat = batches;
        return this;
    }

    // ---- security

    /**
     * Sets the token that the feed requires. By default it comes from {@code STOKER_TOKEN}, from the file that {@code
     * STOKER_TOKEN_FILE} names, or from the file that the feed's own file on this machine names.
     */
    public FeedClientBuilder token(String secret) {
        token = Optional.of(secret);
        return this;
    }

    /** Sets the file with the token. The client reads it for each connection. */
    public FeedClientBuilder tokenFile(Path file) {
        tokenFile = Optional.of(file);
        return this;
    }

    /**
     * Uses TLS and trusts feeders whose certificate is in this PEM file or signed by one in it; by default {@code
     * STOKER_TLS_CA}.
     */
    public FeedClientBuilder tls(Path certificates) {
        trust = new Security.Trust.File(certificates);
        return this;
    }

    /** Uses TLS and trusts the feeders that the Java runtime trusts. */
    public FeedClientBuilder tlsOfSystem() {
        trust = new Security.Trust.System();
        return this;
    }

    /** Uses no TLS, regardless of the environment and the feed's file. */
    public FeedClientBuilder plainText() {
        trust = new Security.Trust.Plain();
        return this;
    }

    /**
     * Sets the trainer's own certificate and key, as PEM files; by default {@code STOKER_TLS_CERT} and {@code
     * STOKER_TLS_KEY}.
     */
    public FeedClientBuilder tlsCertificate(Path certificate, Path key) {
        tlsCertificate = Optional.of(certificate);
        tlsKey = Optional.of(key);
        return this;
    }

    /**
     * Sets the name that the feeder's certificate must have, if it is not the host of the address; by default {@code
     * STOKER_TLS_NAME}.
     */
    public FeedClientBuilder tlsName(String name) {
        tlsName = Optional.of(name);
        return this;
    }

    // ---- time-outs and memory

    /**
     * Sets the bytes that the client requests from all feeders together: at least two batches, 256 MiB by default. The
     * buffer is direct memory.
     */
    public FeedClientBuilder bufferBytes(long bytes) {
        bufferBytes = bytes;
        return this;
    }

    /** Sets how long to wait for the first feeder to answer; 30 s by default. */
    public FeedClientBuilder connectTimeout(Duration limit) {
        connectTimeout = limit;
        return this;
    }

    /** Sets how long the client waits for a batch while no feeder is connected; 10 min by default. */
    public FeedClientBuilder reconnectTimeout(Duration limit) {
        reconnectTimeout = limit;
        return this;
    }

    /** Sets how long the client waits for a batch from a connected feeder; 5 min by default. */
    public FeedClientBuilder batchTimeout(Duration limit) {
        batchTimeout = limit;
        return this;
    }

    /**
     * Sets how long to wait for a place that another live process has, before a {@link PlaceTakenException}. By default
     * {@code STOKER_PLACE_TIMEOUT} in seconds, or 30 s. Zero does not wait.
     */
    public FeedClientBuilder placeTimeout(Duration limit) {
        placeTimeout = Optional.of(limit);
        return this;
    }

    FeedClientBuilder timing(Timing shorter) {
        timing = shorter;
        return this;
    }

    /** Replaces Kafka's consumer, for tests. */
    FeedClientBuilder topicLogs(Supplier<TopicLog> logs) {
        topicLogs = Optional.of(logs);
        return this;
    }

    public FeedClientBuilder environment(Map<String, String> values) {
        environment = values;
        return this;
    }

    /**
     * Connects to the first feeder that answers, and takes a place in the group at every feeder that answers.
     *
     * @throws IllegalArgumentException naming all invalid settings
     * @throws ConnectTimeoutException if no feeder answers
     * @throws FeedNotFoundException if there is no such feed
     * @throws PlaceTakenException if a live process of another client keeps the place
     * @throws TlsException if a connection cannot be secured
     * @throws FeedProtocolException if the feed refuses the client; {@link UnauthorizedException} for a wrong token
     * @throws StateMismatchException if the stream has another split or version than requested
     */
    public FeedClient open() {
        ClientOptions options = options();
        if (participant.isEmpty() && options.participant().worldSize() == 1) {
            new TrainerEnvironment(environment).lonelyTask().ifPresent(warning -> LOG.warn("{}: {}", feed, warning));
        }
        BatchSource source = TopicTarget.of(feed, environment)
                .<BatchSource>map(topic -> topicLogs
                        .map(logs -> new TopicSource(topic, options, logs.get(), logs.get()))
                        .orElseGet(() -> TopicSource.open(topic, options, environment)))
                .orElseGet(() -> new FeederSource(Target.of(feed, environment), options));
        return new FeedClient(source, options).connect();
    }

    /** Checks the settings, and completes them from the environment. */
    /**
     * Opens the stream for reading single samples by key, without a place in a group. Settings of the order, of the
     * group and of batches have no effect.
     *
     * @throws IllegalArgumentException if a setting is invalid, or the feed is a topic
     * @throws FeedNotFoundException if no such feed is known
     * @throws ConnectTimeoutException if no feeder answers in time
     */
    public FeedSamples openSamples() {
        if (TopicTarget.of(feed, environment).isPresent()) {
            throw new IllegalArgumentException("single samples are read from feeders, not from a topic");
        }
        return new FeedSamples(new SampleRequests(Target.of(feed, environment), options()));
    }

    private ClientOptions options() {
        TrainerEnvironment trainer = new TrainerEnvironment(environment);
        Security security =
                new Security(token, tokenFile, trust, tlsCertificate, tlsKey, tlsName, Map.copyOf(environment));
        List<String> problems = security.problems();
        check(problems);
        SkipList skipped = SkipList.NONE;
        try {
            skipped = SkipList.of(skip);
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
        }
        OrderOverlay overlay = OrderOverlay.NONE;
        try {
            overlay = OrderOverlay.fromJson(order);
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
        }
        Participant processes = Participant.rank(0, 1);
        try {
            processes = participant.orElseGet(trainer::participant);
            check(processes, problems);
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
        }
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", problems));
        }
        long launched = run.orElseGet(trainer::run);
        if (launched < 0 || launched > Hello.MAX_RUN) {
            throw new IllegalArgumentException("run is " + launched + "; it must be from 0 to 2^62");
        }
        Duration patience = placeTimeout.orElseGet(trainer::placeTimeout);
        if (patience.isNegative()) {
            throw new IllegalArgumentException("placeTimeout is " + patience + "; it must not be negative");
        }
        return new ClientOptions(
                stream,
                split,
                version,
                group,
                overlay,
                new Participant(
                        processes.rank() / replicas,
                        processes.worldSize() / replicas,
                        processes.worker(),
                        processes.workers()),
                replicas > 1 ? processes.rank() % replicas : replica,
                launched,
                tail,
                skipped,
                columns,
                epochs,
                epochBatches,
                concat,
                security,
                LocalTransport.of(environment),
                trainer.isReported(),
                bufferBytes,
                connectTimeout,
                reconnectTimeout,
                batchTimeout,
                patience,
                trainer.caller(),
                timing);
    }

    private void check(List<String> problems) {
        if (bufferBytes < 1) {
            problems.add("bufferBytes is " + bufferBytes + "; it must be positive");
        }
        for (Duration duration : List.of(connectTimeout, reconnectTimeout, batchTimeout)) {
            if (duration.isNegative() || duration.isZero()) {
                problems.add("a time-out is " + duration + "; it must be positive");
            }
        }
        if (concat < 1 || replicas < 1 || epochBatches.orElse(1) < 1) {
            problems.add("concat, replicas and epochBatches must be at least 1");
        }
        if (replicas > 1 && replica != 0) {
            problems.add("replica and replicas are both set; give only one of them");
        }
    }

    private void check(Participant processes, List<String> problems) {
        if (replicas > 1 && processes.worldSize() % replicas != 0) {
            problems.add(Units.plural(processes.worldSize(), "rank") + " cannot be divided into groups of " + replicas
                    + " replicas");
        }
        if (concat > 1 && processes.workers() > 1) {
            problems.add("concat " + concat + " cannot be divided among " + processes.workers() + " workers");
        }
    }
}

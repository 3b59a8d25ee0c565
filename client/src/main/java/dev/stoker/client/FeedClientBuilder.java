package dev.stoker.client;

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
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.protocol.Hello;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the settings of a client. Every setting has a default. The settings that most programs need are methods of
 * the builder; the others are in groups, each of which a function sets:
 *
 * <pre>{@code
 * FeedClient.of("photos")
 *         .batchSize(64)
 *         .rank(rank, worldSize)
 *         .order(order -> order.seed(5).shuffleWindow(2L << 30))
 *         .steps(steps -> steps.tail(TailPolicy.DROP))
 *         .open();
 * }</pre>
 *
 * <p>A group can be set several times; a later setting replaces an earlier one. {@link #open} checks all settings and
 * reports all problems together.
 */
public final class FeedClientBuilder {
    private static final Logger LOG = LoggerFactory.getLogger(FeedClientBuilder.class);

    private final Optional<String> feed;
    private final OrderOptions order = new OrderOptions();
    private final RankOptions ranks = new RankOptions();
    private final StepOptions steps = new StepOptions();
    private final SecurityOptions security = new SecurityOptions();
    private final TimeoutOptions timeouts = new TimeoutOptions();

    private Map<String, String> environment = System.getenv();
    private Optional<String> stream = Optional.empty();
    private Optional<String> split = Optional.empty();
    private OptionalLong version = OptionalLong.empty();
    private String group = Hello.DEFAULT_GROUP;
    private Optional<List<String>> columns = Optional.empty();
    private OptionalLong epochs = OptionalLong.empty();
    private long bufferBytes = 256L << 20;
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

    /** Sets the number of samples in a batch of one rank. */
    public FeedClientBuilder batchSize(int samples) {
        order.batchSize(samples);
        return this;
    }

    /** Sets this trainer's rank. The default is {@code RANK} and {@code WORLD_SIZE}, or else a single rank. */
    public FeedClientBuilder rank(int rank, int worldSize) {
        ranks.rank(rank, worldSize);
        return this;
    }

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

    /** Sets the number of epochs. Later epochs have no batches. */
    public FeedClientBuilder epochs(long count) {
        epochs = OptionalLong.of(count);
        return this;
    }

    /**
     * Sets the bytes that the client requests from all feeders together: at least two batches, 256 MiB by default. The
     * buffer is direct memory.
     */
    public FeedClientBuilder bufferBytes(long bytes) {
        bufferBytes = bytes;
        return this;
    }

    // ---- groups of settings

    /**
     * Sets the order, such as seed, shuffle and lanes. The settings override the feed's defaults. The first client of a
     * group determines the order of the group, and clients with other settings are refused.
     */
    public FeedClientBuilder order(Consumer<OrderOptions> settings) {
        settings.accept(order);
        return this;
    }

    /** Sets workers, replicas and the run of this trainer. */
    public FeedClientBuilder ranks(Consumer<RankOptions> settings) {
        settings.accept(ranks);
        return this;
    }

    /** Sets which batches an epoch has, how it ends, and how batches are joined. */
    public FeedClientBuilder steps(Consumer<StepOptions> settings) {
        settings.accept(steps);
        return this;
    }

    /** Sets the token of the trainer, and TLS. */
    public FeedClientBuilder security(Consumer<SecurityOptions> settings) {
        settings.accept(security);
        return this;
    }

    /** Sets how long the client waits. */
    public FeedClientBuilder timeouts(Consumer<TimeoutOptions> settings) {
        settings.accept(timeouts);
        return this;
    }

    /** Replaces the environment variables of the process. */
    public FeedClientBuilder environment(Map<String, String> values) {
        environment = values;
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
        if (!ranks.isSet() && options.participant().worldSize() == 1) {
            new TrainerEnvironment(environment).lonelyTask().ifPresent(warning -> LOG.warn("{}: {}", feed, warning));
        }
        BatchSource source = TopicTarget.of(feed, environment)
                .<BatchSource>map(topic -> topicLogs
                        .map(logs -> new TopicSource(topic, options, logs.get(), logs.get()))
                        .orElseGet(() -> TopicSource.open(topic, options, environment)))
                .orElseGet(() -> new FeederSource(Target.of(feed, environment), options));
        return new FeedClient(source, options).connect();
    }

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

    /** Checks the settings, and completes them from the environment. */
    private ClientOptions options() {
        TrainerEnvironment trainer = new TrainerEnvironment(environment);
        Security secured = security.build(environment);
        List<String> problems = secured.problems();
        check(problems);
        SkipList skipped = steps.skipped(problems);
        OrderOverlay overlay = order.overlay(problems);
        Participant processes = ranks.processes(trainer, problems);
        if (steps.concat() > 1 && processes.workers() > 1) {
            problems.add("concat " + steps.concat() + " cannot be divided among " + processes.workers() + " workers");
        }
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", problems));
        }
        return new ClientOptions(
                stream,
                split,
                version,
                group,
                overlay,
                ranks.participant(processes),
                ranks.replica(processes),
                ranks.run(trainer),
                steps.tail(),
                skipped,
                columns,
                epochs,
                steps.epochBatches(),
                steps.concat(),
                secured,
                LocalTransport.of(environment),
                trainer.isReported(),
                bufferBytes,
                timeouts.connectTimeout(),
                timeouts.reconnectTimeout(),
                timeouts.batchTimeout(),
                timeouts.placeTimeout(trainer),
                trainer.caller(),
                timing);
    }

    private void check(List<String> problems) {
        if (bufferBytes < 1) {
            problems.add("bufferBytes is " + bufferBytes + "; it must be positive");
        }
        timeouts.check(problems);
        if (steps.concat() < 1 || ranks.replicas() < 1 || steps.epochBatches().orElse(1) < 1) {
            problems.add("concat, replicas and epochBatches must be at least 1");
        }
        ranks.check(problems);
    }
}

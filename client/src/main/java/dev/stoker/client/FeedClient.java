package dev.stoker.client;

import dev.stoker.client.errors.Difference;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.source.BatchSource;
import dev.stoker.client.source.ClientOptions;
import dev.stoker.client.source.ReceivedPiece;
import dev.stoker.client.source.Share;
import dev.stoker.client.source.Span;
import dev.stoker.client.stats.FeedStats;
import dev.stoker.client.transport.Buffers;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.order.delivery.Position;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.protocol.Welcome;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads one stream of a feed: exact, shuffled batches, epoch after epoch, from whatever feeders serve it.
 *
 * <pre>{@code
 * try (FeedClient feed = FeedClient.of("photos").batchSize(64).rank(0, 2).open()) {
 *     for (int epoch = 0; epoch < 10; epoch++) {
 *         for (Batch batch : feed.epoch()) {
 *             step(batch.bytes("image", 0), batch.ints("label"));
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p>The batches equal those of the Python package byte for byte. The two packages can also exchange their resume
 * states. A client is for one thread (the trainer's); a separate thread receives in the background. Failures are {@link
 * FeedException}s.
 */
public final class FeedClient implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FeedClient.class);

    private final BatchSource source;
    private final ReentrantLock lock;
    private final ClientOptions options;
    private final ClientShares epochs;
    /** The columns that the client receives; known once it is connected. */
    private @Nullable View view;

    private Position next = Position.START;
    private @Nullable Iteration current;
    /** The position after the last batch that was handed out, unless another position was chosen since. */
    private Optional<Position> last = Optional.empty();

    private boolean isClosed;
    private long repeats;

    FeedClient(BatchSource source, ClientOptions options) {
        this.source = source;
        this.lock = source.lock();
        this.options = options;
        this.epochs = new ClientShares(options, this::welcome);
    }

    /**
     * Returns a builder for a client of a feed or topic. A feed is given as a name, as {@code host:port}, or as several
     * of these separated by commas. A topic that a feed writes to is given as {@code kafka://host:port,…/topic} and
     * needs {@code kafka-clients} on the class path.
     */
    public static FeedClientBuilder of(String feed) {
        return new FeedClientBuilder(Optional.of(feed));
    }

    /** Returns a builder for a client of the feed that {@code STOKER_FEED} names, as within {@code stoker run}. */
    public static FeedClientBuilder ofEnvironment() {
        return new FeedClientBuilder(Optional.empty());
    }

    FeedClient connect() {
        source.connect();
        try {
            requireAsked();
        } catch (FeedException | IllegalArgumentException e) {
            source.stop();
            throw e;
        }
        return this;
    }

    /** Checks the settings that were requested besides the stream's name. */
    private void requireAsked() {
        view = options.view(welcome());
        options.requireMatch(welcome());
    }

    private void requireSound() {
        source.requireSound();
        if (isClosed) {
            throw new FeedException("the feed is closed");
        }
    }

    /** The description of the stream. */
    public StreamInfo info() {
        return StreamInfo.of(welcome());
    }

    Welcome welcome() {
        return source.welcome();
    }

    SkipList skip() {
        return options.skip();
    }

    /** The columns that the client receives. */
    View view() {
        return Objects.requireNonNull(view, "connect() sets it");
    }

    /**
     * Begins the next epoch, or the rest of it if the loaded position is in it. With {@code epochBatches} the iteration
     * has at most that number of batches. Each call begins another epoch or part, even if the iteration before was not
     * finished, and ends that iteration. After an exception the next iteration begins with the batch that was not
     * handed out.
     */
    public Iteration epoch() {
        lock.lock();
        try {
            requireSound();
            if (current != null && current.isToGoOn()) {
                return current;
            }
            if (current != null) {
                current.end();
            }
            Position start = next;
            changeEpoch(start.epoch(), OptionalLong.empty());
            Share share = epochs.share(start);
            next = epochs.after(start);
            // The span extends beyond a part of an epoch: the next iteration reads its rest.
            Span.Range range = share.whole().range(start.epoch());
            OptionalLong rest = current == null || current.span() != source.reading()
                    ? OptionalLong.empty()
                    : current.indexOf(range);
            if (current != null && rest.isPresent()) {
                current = new Iteration(this, current.span(), rest.getAsLong(), share);
                return current;
            }
            Span span = source.span(range);
            if (range.count() > 0 || epochs.isOver(start.epoch())) {
                source.begin(span);
            } else {
                source.beginEmpty(span);
            }
            // If each epoch has its own version, the version is known when the epoch begins.
            if (!welcome().session().follows()) {
                Position following = new Position(start.epoch() + 1, 0);
                Span.Range coming = epochs.share(following).whole().range(following.epoch());
                if (coming.count() > 0) {
                    source.expect(source.span(coming));
                }
            }
            source.hurry();
            current = new Iteration(this, span, 0, share);
            return current;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Iterates over epoch after epoch: the feed's epochs, or without {@code epochs} endlessly. A batch counts as
     * consumed when the trainer asks for the next one.
     *
     * @throws FeedException if no epoch has a batch, instead of searching endlessly
     */
    public Iterable<Batch> batches() {
        return () -> new Batches(this);
    }

    boolean hasEnd() {
        return epochs.haveEnd();
    }

    /** Whether no epoch follows. */
    boolean isPastEnd() {
        return epochs.isOver(next.epoch());
    }

    /** Switches to an epoch of a feed whose epochs have separate versions. Does nothing after the last epoch. */
    private void changeEpoch(long epoch, OptionalLong version) {
        Welcome known = welcome();
        boolean isHere = !known.session().follows()
                || (known.session().epoch().equals(OptionalLong.of(epoch))
                        && version.orElse(known.stream().version())
                                == known.stream().version());
        if (epochs.isOver(epoch)) {
            return;
        }
        if (!isHere) {
            source.changeEpoch(epoch, version);
        }
        requireAsked();
    }

    // ---- for an iteration, on the trainer's thread

    /** Returns the pieces of a batch once they have arrived. */
    List<ReceivedPiece> take(Span span, long index) {
        lock.lock();
        try {
            source.clientStats().begin();
            return source.take(span, index);
        } finally {
            lock.unlock();
        }
    }

    void handedOut(Batch batch, Position after) {
        lock.lock();
        try {
            last = Optional.of(after);
            source.clientStats().handedOut(batch.rows());
        } finally {
            lock.unlock();
        }
    }

    /** Notes that the trainer has finished a batch. */
    void acknowledge(Span span, long index, List<ReceivedPiece> pieces) {
        lock.lock();
        try {
            source.acknowledge(span, index, pieces);
        } finally {
            lock.unlock();
        }
    }

    Buffers buffers() {
        return source.buffers();
    }

    // ---- position

    /** The position after the last batch that was handed out, as small JSON: the same on every rank, and in Python. */
    public String state() {
        Position untouched = current == null ? next : current.position();
        Position position = last.orElse(untouched);
        return FeedState.of(position, last.isPresent() && current != null ? current.welcome() : welcome(), skip());
    }

    /**
     * Resumes at a position from {@link #state} or {@link Batch#state}: the next {@link #epoch} begins there. The state
     * can come from Python or from a job with another world size. Another batch size must be permitted. Then no sample
     * is left out, and {@link #repeats} returns how many are repeated. If the state skips batches after its position
     * that this client does not skip, their delivery must be permitted.
     *
     * @throws StateMismatchException with the differences, if the state belongs to other data or another order
     */
    public void load(String state, Difference... permitted) {
        lock.lock();
        try {
            requireSound();
            FeedState.Place place = FeedState.place(state);
            changeEpoch(place.epoch(), place.version());
        } finally {
            lock.unlock();
        }
        Regrouping found = FeedState.parse(state, welcome(), Set.of(permitted), skip());
        if (found.repeats() > 0) {
            LOG.warn(
                    "Stream {}: the batch size has changed to {}: resuming at epoch {}, batch {}; {} samples are"
                            + " repeated",
                    welcome().stream().name(),
                    welcome().pass().order().batchSize(),
                    found.position().epoch(),
                    found.position().batch(),
                    found.repeats());
        }
        lock.lock();
        try {
            repeats = found.repeats();
            move(found.position());
        } finally {
            lock.unlock();
        }
    }

    private void move(Position position) {
        if (current != null) {
            current.end();
        }
        current = null;
        last = Optional.empty();
        next = position;
    }

    /** Samples that are repeated because {@link #load} was permitted another batch size. */
    public long repeats() {
        return repeats;
    }

    /**
     * Makes the next iteration begin with this epoch: at its first batch, or at the loaded position if it is in this
     * epoch. With {@code epochBatches} each part counts as an epoch: epoch 3 follows an epoch of three parts.
     */
    public void setEpoch(long epoch) {
        if (epoch < 0) {
            throw new IllegalArgumentException("epoch " + epoch);
        }
        lock.lock();
        try {
            EpochParts parts = epochs.parts();
            Position first = parts.first(epoch);
            if (!parts.isWithin(next, first)) {
                move(first);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Batches in the next iteration, or in the whole present one. */
    public long steps() {
        if (current != null && current.isRunning()) {
            return current.steps();
        }
        lock.lock();
        try {
            requireSound();
            changeEpoch(next.epoch(), OptionalLong.empty());
            return epochs.share(next).steps();
        } finally {
            lock.unlock();
        }
    }

    // ---- statistics

    /** Counts since the client was opened. Any thread may call it. */
    public FeedStats stats() {
        lock.lock();
        try {
            return source.stats();
        } finally {
            lock.unlock();
        }
    }

    /**
     * A few lines for people: how long the trainer waited, for which feeder, lane and cause, and possible remedies.
     * With STOKER_REPORT=1 in the environment, {@link #close} prints this report. Any thread may call it.
     */
    public String report() {
        return new FeedReport(source.clientStats().labels(welcome()), stats()).text();
    }

    /** The same in Prometheus' text format (version 0.0.4), for your own metrics page. Any thread may call it. */
    public String prometheus() {
        return new FeedReport(source.clientStats().labels(welcome()), stats()).prometheus();
    }

    /**
     * Delivers the last receipts, for which it takes a second at most, and ends. What was handed out stays valid.
     * Delivered means that a feeder has read them: it writes them to the ledger with its next checkpoint, and before it
     * ends in good order.
     */
    @Override
    public void close() {
        lock.lock();
        try {
            if (isClosed) {
                return;
            }
            if (current != null) {
                current.end();
            }
            isClosed = true;
            source.clientStats().end();
        } finally {
            lock.unlock();
        }
        if (options.isReported()) {
            System.err.println(report());
        }
        source.stop();
    }

    @Override
    public String toString() {
        return "FeedClient[" + source + "]";
    }
}

package dev.stoker.client;

import dev.stoker.schemas.order.Position;
import dev.stoker.schemas.protocol.Welcome;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
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
 * <p>The batches are those of the Python package, byte for byte, and so is the resume state, which the two exchange. For one
 * thread (the trainer's); a thread of its own receives meanwhile. Failures are {@link FeedException}s.
 */
public final class FeedClient implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FeedClient.class);

    private final BatchSource source;
    private final ReentrantLock lock;
    private final FeedOptions options;
    private Position next = Position.START;
    private Epoch current;
    /** After the last batch that was handed out, unless another position was chosen since. */
    private Optional<Position> last = Optional.empty();

    private boolean isClosed;
    private long repeats;

    FeedClient(BatchSource source, FeedOptions options) {
        this.source = source;
        this.lock = source.lock();
        this.options = options;
    }

    /**
     * A client of a feed: its name, or {@code host:port}, or several of those with commas between; or of a topic that a feed was written
     * to, {@code kafka://host:port,…/topic}, for which {@code kafka-clients} must be on the class path.
     */
    public static FeedClientBuilder of(String feed) {
        return new FeedClientBuilder(Optional.of(feed));
    }

    /** A client of the feed that {@code STOKER_FEED} names, as within {@code stoker run}. */
    public static FeedClientBuilder ofEnvironment() {
        return new FeedClientBuilder(Optional.empty());
    }

    FeedClient connect() {
        source.connect();
        try {
            requireAsked();
        } catch (FeedException e) {
            source.stop();
            throw e;
        }
        return this;
    }

    /** What was asked for beside the stream's name. */
    private void requireAsked() {
        Welcome.StreamName stream = welcome().stream();
        options.split().filter(split -> !split.equals(stream.split())).ifPresent(split -> {
            throw new StateMismatchException(
                    "stream " + stream.name() + ": split " + stream.split() + ", asked for " + split);
        });
        if (options.version().orElse(stream.version()) != stream.version()) {
            throw new StateMismatchException("stream " + stream.name() + ": version " + stream.version()
                    + ", asked for " + options.version().getAsLong());
        }
    }

    private void requireSound() {
        source.requireSound();
        if (isClosed) {
            throw new FeedException("the feed is closed");
        }
    }

    /** What is known of the stream. */
    public StreamInfo info() {
        return StreamInfo.of(welcome());
    }

    Welcome welcome() {
        return source.welcome();
    }

    /**
     * The batches of the epoch that comes next, from the loaded position on if it lies in it; with {@code epochBatches} at most so many. Each
     * call begins another epoch or part, also after an iteration was left early; the iteration before ends. After an exception of the
     * iteration it goes on with the batch that was not handed out.
     */
    public Epoch epoch() {
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
            turnTo(start.epoch(), OptionalLong.empty());
            Share share = share(start);
            next = after(start);
            // The span goes on behind a part of an epoch, for the iteration that follows.
            Span.Range range = share.whole().range(start.epoch());
            OptionalLong rest = current == null || current.span() != source.reading()
                    ? OptionalLong.empty()
                    : current.indexOf(range);
            if (rest.isPresent()) {
                current = new Epoch(this, current.span(), rest.getAsLong(), share);
                return current;
            }
            Span span = source.span(range);
            if (range.count() > 0 || isOver(start.epoch())) {
                source.begin(span);
            } else {
                source.beginEmpty(span);
            }
            // What an epoch is of is known when it is begun, where each has a version of its own.
            if (!welcome().follows()) {
                Position following = new Position(start.epoch() + 1, 0);
                Span.Range coming = share(following).whole().range(following.epoch());
                if (coming.count() > 0) {
                    source.expect(source.span(coming));
                }
            }
            source.hurry();
            current = new Epoch(this, span, 0, share);
            return current;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Epoch after epoch, until those that the feed has are over; without {@code epochs}, for ever. A batch counts as consumed when the next one
     * is asked for.
     *
     * @throws FeedException rather than to look for ever where no epoch has a batch
     */
    public Iterable<Batch> batches() {
        return () -> new Batches(this);
    }

    boolean hasEnd() {
        return options.epochs().isPresent() || welcome().epochs().isPresent();
    }

    /** Whether no epoch follows. */
    boolean isPastEnd() {
        return isOver(next.epoch());
    }

    private Share share(Position start) {
        Welcome welcome = welcome();
        long batch = isOver(start.epoch()) ? welcome.size().batches() : start.batch();
        return new Share(
                welcome.size(), options.tail(), batch, options.participant(), options.concat(), options.epochBatches());
    }

    /** Goes over to an epoch, where each has a version of its own; there is nothing behind the last one. */
    private void turnTo(long epoch, OptionalLong version) {
        Welcome known = welcome();
        boolean isHere = !known.follows()
                || (known.epoch().equals(OptionalLong.of(epoch))
                        && version.orElse(known.stream().version())
                                == known.stream().version());
        if (isOver(epoch)) {
            return;
        }
        if (!isHere) {
            source.turnTo(epoch, version);
        }
        requireAsked();
    }

    private boolean isOver(long epoch) {
        return isBeyond(options.epochs(), epoch) || isBeyond(welcome().epochs(), epoch);
    }

    private static boolean isBeyond(OptionalLong epochs, long epoch) {
        return epochs.isPresent() && epoch >= epochs.getAsLong();
    }

    /** Where the iteration after the one that begins there begins; the same on every rank. */
    private Position after(Position start) {
        Share share = share(start);
        return share.limit().isPresent() ? share.afterLimit(start.epoch()) : new Position(start.epoch() + 1, 0);
    }

    // ---- for an iteration; by the trainer's thread

    /** The pieces of a batch, once it has come. */
    List<Piece> take(Span span, long index) {
        lock.lock();
        try {
            source.tally().begin();
            return source.take(span, index);
        } finally {
            lock.unlock();
        }
    }

    void handedOut(Batch batch, Position after) {
        lock.lock();
        try {
            last = Optional.of(after);
            source.tally().handedOut(batch);
        } finally {
            lock.unlock();
        }
    }

    /** The trainer is done with a batch. */
    void acknowledge(Span span, long index, List<Piece> pieces) {
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
        return FeedState.of(position, last.isPresent() && current != null ? current.welcome() : welcome());
    }

    /**
     * Goes on at a position of {@link #state} or {@link Batch#state}, also one of Python, also with another world size; the next
     * {@link #epoch} begins there. Another batch size has to be permitted: no sample is left out then, and {@link #repeats} says how many come
     * again.
     *
     * @throws StateMismatchException naming what differs, if the state is of other data or another order
     */
    public void load(String state, Difference... permitted) {
        lock.lock();
        try {
            requireSound();
            FeedState.Place place = FeedState.place(state);
            turnTo(place.epoch(), place.version());
        } finally {
            lock.unlock();
        }
        Regrouping found = FeedState.parse(state, welcome(), Set.of(permitted));
        if (found.repeats() > 0) {
            LOG.warn(
                    "Stream {}: the batch size has changed to {}: going on at epoch {}, batch {}; {} samples come again",
                    welcome().stream().name(),
                    welcome().order().batchSize(),
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

    /** Samples that come again because {@link #load} was permitted another batch size. */
    public long repeats() {
        return repeats;
    }

    /**
     * The next iteration is this epoch, from its first batch; or from the loaded position, if that is in it. With {@code epochBatches} the
     * parts are counted: an epoch of three parts is followed by epoch 3.
     */
    public void setEpoch(long epoch) {
        if (epoch < 0) {
            throw new IllegalArgumentException("epoch " + epoch);
        }
        lock.lock();
        try {
            Share share = share(Position.START);
            long parts = share.parts();
            Position first = new Position(
                    epoch / parts, epoch % parts * options.epochBatches().orElse(0) * share.width());
            long end = parts == 1
                    ? Long.MAX_VALUE
                    : first.batch() + options.epochBatches().getAsInt() * share.width();
            boolean isThere = next.epoch() == first.epoch() && next.batch() >= first.batch() && next.batch() < end;
            if (!isThere) {
                move(first);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Batches that the next iteration brings, or that the present one brings in all. */
    public long steps() {
        if (current != null && current.isRunning()) {
            return current.steps();
        }
        lock.lock();
        try {
            requireSound();
            turnTo(next.epoch(), OptionalLong.empty());
            return share(next).steps();
        } finally {
            lock.unlock();
        }
    }

    // ---- how it goes

    /** Counts since the client was opened. Any thread. */
    public FeedStats stats() {
        lock.lock();
        try {
            return source.stats();
        } finally {
            lock.unlock();
        }
    }

    /**
     * A few lines for people: how long the trainer waited, for which feeder, lane and cause, and what may help. With STOKER_REPORT=1 in
     * the environment, {@link #close} prints it. Any thread.
     */
    public String report() {
        return new FeedReport(source.tally().labels(welcome()), stats()).text();
    }

    /** The same in Prometheus' text format (version 0.0.4), for a metrics page of your own; any thread. */
    public String prometheus() {
        return new FeedReport(source.tally().labels(welcome()), stats()).prometheus();
    }

    /**
     * Delivers the last receipts, for which it takes a second at most, and ends. What was handed out stays valid. Delivered means that a
     * feeder has read them: it writes them to the ledger with its next checkpoint, and before it ends in good order.
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
            source.tally().end();
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

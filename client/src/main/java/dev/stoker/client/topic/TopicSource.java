package dev.stoker.client.topic;

import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.source.BatchSource;
import dev.stoker.client.source.ClientOptions;
import dev.stoker.client.source.ClientStats;
import dev.stoker.client.source.LanePlan;
import dev.stoker.client.source.ReceivedPiece;
import dev.stoker.client.source.Span;
import dev.stoker.client.stats.FeedStats;
import dev.stoker.client.stats.Waits;
import dev.stoker.client.transport.Buffers;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.protocol.Welcome;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Batches from a topic that a feed was written to. A separate thread reads ahead the lanes that the trainer reads from
 * end to end. Other pieces (of joint batches, the ends of uneven lanes, repeated rows) are looked up by position when
 * the trainer waits for them.
 */
public final class TopicSource implements BatchSource {
    private static final long JOIN_MS = 10_000;

    private final TopicTarget target;
    private final TopicState state = new TopicState();
    private final Buffers buffers;
    private final ClientStats clientStats;
    private final Thread thread;
    private @Nullable Span reading;
    private @Nullable Span following;

    /**
     * Takes ownership of the logs.
     *
     * @param looking for single records
     * @param stream for sequential reading
     */
    public TopicSource(TopicTarget target, ClientOptions options, TopicLog looking, TopicLog stream) {
        this.target = target;
        this.buffers = new Buffers(options.bufferBytes());
        this.clientStats = new ClientStats("kafka://" + target.bootstrap() + "/" + target.topic(), options);
        this.thread = new Thread(new TopicReceiver(target, options, looking, stream, state, buffers), "stoker-topic");
        thread.setDaemon(true);
    }

    /** Opens a source that uses Kafka's consumer. */
    public static TopicSource open(TopicTarget target, ClientOptions options, Map<String, String> environment) {
        try {
            return new TopicSource(
                    target,
                    options,
                    KafkaLog.looking(target, options, environment),
                    KafkaLog.reading(target, options, environment));
        } catch (NoClassDefFoundError e) {
            throw new FeedException(
                    target + ": reading a topic needs org.apache.kafka:kafka-clients on the class path", e);
        }
    }

    @Override
    public ReentrantLock lock() {
        return state.lock;
    }

    @Override
    public void connect() {
        thread.start();
        state.lock.lock();
        try {
            while (state.welcome == null) {
                requireSound();
                state.awaitChange(target);
            }
        } catch (RuntimeException e) {
            state.isClosed = true;
            throw e;
        } finally {
            state.lock.unlock();
        }
    }

    @Override
    public void changeEpoch(long epoch, OptionalLong version) {
        reading = null;
        following = null;
        state.leaveLanes();
        state.epochChange = new TopicState.EpochChange(epoch, System.nanoTime());
        state.changed.signalAll();
        try {
            while (state.epochChange != null) {
                requireSound();
                if (state.late != null) {
                    throw state.late;
                }
                state.awaitChange(target);
            }
        } finally {
            state.epochChange = null;
            state.late = null;
        }
        long here = state.welcome().stream().version();
        if (version.orElse(here) != here) {
            throw new StateMismatchException(target + ": epoch " + epoch + " of stream "
                    + state.welcome().stream().name() + " has version " + here + " here, but the state has version "
                    + version.getAsLong()
                    + ": it belongs to another topic, or to this one before it was rewritten");
        }
    }

    @Override
    public Welcome welcome() {
        return state.welcome();
    }

    @Override
    public void requireSound() {
        if (state.failure != null) {
            throw state.failure;
        }
        if (state.isClosed) {
            throw new FeedException("the feed is closed");
        }
    }

    @Override
    public @Nullable Span reading() {
        return reading;
    }

    @Override
    public Span span(Span.Range range) {
        if (following != null && following.range().equals(range)) {
            return following;
        }
        long[] rows =
                state.info().laneRows().stream().mapToLong(Long::longValue).toArray();
        return new Span(range, new EpochNumbering(state.info().order(), rows, range.epoch()));
    }

    @Override
    public void beginEmpty(Span span) {
        // Nobody waits for it to be told.
        begin(span);
    }

    @Override
    public void begin(Span span) {
        reading = span;
        boolean isUnderWay = span == following;
        following = null;
        if (!isUnderWay) {
            LanePlan plan = new LanePlan(LanePlan.lanesOf(state.info().order(), span));
            plan.add(span);
            state.read(plan);
        }
    }

    @Override
    public void expect(Span span) {
        if (LanePlan.lanesOf(state.info().order(), span).equals(state.reading().lanes())) {
            following = span;
            state.reading().extend(span);
        }
    }

    @Override
    public void hurry() {
        state.changed.signalAll();
    }

    @Override
    public List<ReceivedPiece> take(Span span, long index) {
        if (!span.isReady(index)) {
            await(span, index);
        }
        requireCurrent(span);
        List<ReceivedPiece> taken = span.take(index).orElseThrow();
        for (ReceivedPiece piece : taken) {
            int lane = (int) piece.header().identity().lane();
            if (state.isReadOn(span.number(index), lane, piece.isRepeated())) {
                state.reading().taken(lane, piece.header().messageBytes());
            }
        }
        return taken;
    }

    private void await(Span span, long index) {
        state.waiting = new TopicState.Waiting(span, index, System.nanoTime());
        state.changed.signalAll();
        try {
            while (!span.isReady(index)) {
                requireCurrent(span);
                requireSound();
                if (state.late != null) {
                    throw state.late;
                }
                state.awaitChange(target);
            }
            clientStats.waited(Waits.KAFKA, span.last(index), System.nanoTime() - state.waiting.sinceNs());
        } finally {
            clientStats.spent(System.nanoTime() - state.waiting.sinceNs());
            state.waiting = null;
            state.late = null;
        }
    }

    private void requireCurrent(Span span) {
        if (reading != span) {
            throw span.isNoLongerRead();
        }
    }

    @Override
    public void acknowledge(Span span, long index, List<ReceivedPiece> taken) {
        if (state.lanes != null) {
            state.reading().consumed(span, index);
        }
    }

    @Override
    public Buffers buffers() {
        return buffers;
    }

    @Override
    public ClientStats clientStats() {
        return clientStats;
    }

    @Override
    public FeedStats stats() {
        return clientStats.stats(new ClientStats.Received(state.bytes, 0, 0, 0, 0, 0, 0, state.duplicates()));
    }

    @Override
    public void stop() {
        state.lock.lock();
        try {
            state.isClosed = true;
            state.changed.signalAll();
        } finally {
            state.lock.unlock();
        }
        try {
            thread.join(JOIN_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return target.toString();
    }
}

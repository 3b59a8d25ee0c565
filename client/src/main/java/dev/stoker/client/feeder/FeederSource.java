package dev.stoker.client.feeder;

import dev.stoker.client.errors.ConnectTimeoutException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.FeedNotFoundException;
import dev.stoker.client.errors.FencedException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.source.BatchSource;
import dev.stoker.client.source.ClientOptions;
import dev.stoker.client.source.ClientStats;
import dev.stoker.client.source.ReceivedPiece;
import dev.stoker.client.source.Span;
import dev.stoker.client.stats.FeedStats;
import dev.stoker.client.transport.Buffers;
import dev.stoker.client.transport.Target;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Welcome;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Batches from feeders. A separate thread handles the connections. */
public final class FeederSource implements BatchSource {
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long JOIN_MS = 5_000;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Target target;
    private final ClientOptions options;
    private final Subscriptions subscriptions;
    private final Network network;
    private final FrameHandler frameHandler;
    private final InputThread input;
    private final Thread thread;
    private final ClientStats clientStats;
    /**
     * The epoch in HELLO, and the version of which the client has read batches of that epoch; empty while the client
     * only looks.
     */
    private OptionalLong boundEpoch = OptionalLong.empty();

    private OptionalLong boundVersion = OptionalLong.empty();
    /** The last welcome, also while the client waits for another. */
    private volatile @Nullable Welcome known;

    private boolean isClosed;

    public FeederSource(Target target, ClientOptions options) {
        this.target = target;
        this.options = options;
        this.subscriptions = new Subscriptions(options.timing().ack().toNanos());
        this.network = new Network(changed, target, options, subscriptions, this::hello);
        this.clientStats = new ClientStats(target.text(), options);
        this.frameHandler = new FrameHandler(
                new FrameHandler.Surroundings(lock, changed, target, network, subscriptions), options, clientStats);
        network.attach(frameHandler);
        this.input = new InputThread(lock, network);
        this.thread = new Thread(input, "stoker-feed");
        thread.setDaemon(true);
    }

    private Hello hello(int localFiles) {
        Optional<Welcome> welcome = frameHandler.agreement().first();
        Hello hello = new Hello(
                options.security().tokenFor(target),
                "stoker-java/"
                        + Optional.ofNullable(FeederSource.class.getPackage().getImplementationVersion())
                                .orElse("dev"),
                new Hello.PassRequest(
                        welcome.map(w -> w.feed().id().toString()).or(target::name),
                        welcome.map(w -> w.stream().name()).or(options::stream),
                        options.group(),
                        options.order()),
                options.participant(),
                options.replica(),
                options.run());
        Hello complete = hello.skipping(options.skip())
                .withLocalReads(localFiles, localFiles > 0 ? options.local().leastLocal() : 0);
        complete = complete.by(
                options.caller().in(frameHandler.agreement().joined()).sentAt(Math.max(0, System.nanoTime())));
        return boundEpoch.isPresent() ? complete.at(boundEpoch.getAsLong(), boundVersion) : complete;
    }

    @Override
    public ReentrantLock lock() {
        return lock;
    }

    @Override
    public void connect() {
        thread.start();
        lock.lock();
        try {
            join(options.connectTimeout());
        } catch (FeedException e) {
            input.stop();
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the WELCOME of every feeder that answers. */
    private void join(Duration timeout) {
        long deadlineNs = System.nanoTime() + timeout.toNanos();
        while (network.isRejoining() || !network.isAdmitted()) {
            requireSound();
            long leftNs = deadlineNs - System.nanoTime() + network.admission().graceNs();
            if (leftNs <= 0) {
                throw new ConnectTimeoutException(target + ": no feeder answered within " + timeout.toMillis() + " ms ("
                        + network.pool().describe() + "); is one running? See `stoker ps`");
            }
            awaitChange(Math.min(leftNs, LOOK_NS));
            if (frameHandler.agreement().welcome().isEmpty() && network.pool().wasRefused()) {
                Optional<String> ended = target.ended();
                if (ended.isPresent()) {
                    throw new FeedNotFoundException(ended.get());
                }
            }
        }
        known = frameHandler.agreement().welcome().orElseThrow();
        if (!frameHandler.agreement().isLooking()) {
            frameHandler.agreement().tookPart();
        }
        if (known.session().epoch().isPresent()) {
            boundVersion = OptionalLong.of(known.stream().version());
        }
    }

    @Override
    public void changeEpoch(long epoch, OptionalLong version) {
        boundEpoch = OptionalLong.of(epoch);
        boundVersion = version;
        long begunNs = System.nanoTime();
        network.rejoin();
        network.waiting(Optional.of(begunNs));
        try {
            join(options.reconnectTimeout());
        } finally {
            network.waiting(Optional.empty());
        }
        if (!welcome().session().follows()) {
            throw new StateMismatchException(target + " no longer follows its dataset; restart the trainer");
        }
    }

    @SuppressWarnings("WaitNotInLoop") // Callers loop.
    private void awaitChange(long ns) {
        try {
            changed.awaitNanos(ns);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FeedException("interrupted while waiting for " + target, e);
        }
    }

    @Override
    public void requireSound() {
        if (network.failure().isPresent()) {
            throw network.failure().get();
        }
        if (isClosed) {
            throw new FeedException("the feed is closed");
        }
    }

    @Override
    public Welcome welcome() {
        return Objects.requireNonNull(known, "the stream is described when the first feeder admits");
    }

    @Override
    public @Nullable Span reading() {
        return subscriptions.reading();
    }

    @Override
    public Span span(Span.Range range) {
        return subscriptions
                .following()
                .filter(span -> span.range().equals(range))
                .orElseGet(() -> new Span(range, frameHandler.agreement().numbering(range.epoch())));
    }

    @Override
    public void begin(Span span) {
        subscriptions.begin(span, network.pool().live());
    }

    @Override
    public void beginEmpty(Span span) {
        subscriptions.beginEmpty(span, network.pool().live());
    }

    @Override
    public void expect(Span span) {
        subscriptions.expect(span, network.pool().live());
    }

    @Override
    public void hurry() {
        network.hurry();
    }

    @Override
    public List<ReceivedPiece> take(Span span, long index) {
        if (!span.isReady(index)) {
            await(span, index);
        } else if (network.failure().filter(FencedException.class::isInstance).isPresent()) {
            throw network.failure().get(); // after other failures the batches that have arrived are still delivered
        }
        requireCurrent(span);
        return span.take(index).orElseThrow();
    }

    private void requireCurrent(Span span) {
        if (subscriptions.reading() != span) {
            throw span.isNoLongerRead();
        }
    }

    private void await(Span span, long index) {
        Wait wait = new Wait(target, network, frameHandler, options, index == 0 && span.complete == 0);
        network.waiting(Optional.of(wait.begunNs()));
        try {
            requireCurrent(span);
            subscriptions.need(span, index);
            while (!span.isReady(index)) {
                requireCurrent(span);
                requireSound();
                awaitChange(LOOK_NS);
                wait.judge(span, index);
            }
            ReceivedPiece last = span.last(index);
            clientStats.waited(wait.cause(FeederConnection.of(last)), last, System.nanoTime() - wait.begunNs());
        } finally {
            network.waiting(Optional.empty());
            clientStats.spent(System.nanoTime() - wait.begunNs());
        }
    }

    @Override
    public void acknowledge(Span span, long index, List<ReceivedPiece> pieces) {
        if (!isClosed) {
            subscriptions.acknowledge(span, index, pieces, System.nanoTime());
        }
    }

    @Override
    public Buffers buffers() {
        return frameHandler.batches().buffers();
    }

    @Override
    public ClientStats clientStats() {
        return clientStats;
    }

    @Override
    public FeedStats stats() {
        List<FeederConnection> live = network.pool().live();
        return clientStats.stats(new ClientStats.Received(
                frameHandler.batches().bytes(),
                frameHandler.batches().localReadBytes(),
                live.size(),
                (int) live.stream().filter(FeederConnection::isNear).count(),
                network.reconnects(),
                network.pool().failovers(),
                frameHandler.batches().corruptPieces(),
                frameHandler.batches().duplicatePieces()));
    }

    @Override
    public void stop() {
        lock.lock();
        try {
            isClosed = true;
        } finally {
            lock.unlock();
        }
        input.stop();
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

package dev.stoker.server.session;

import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.security.FeedToken;
import dev.stoker.server.security.KeyLimit;
import dev.stoker.server.security.ServerTls;
import dev.stoker.server.session.accept.PendingConnection;
import dev.stoker.server.session.accept.PlainWire;
import dev.stoker.server.session.accept.ProcessLimits;
import dev.stoker.server.session.accept.RateLimitedLog;
import dev.stoker.server.session.accept.TlsWire;
import dev.stoker.server.session.accept.Wire;
import dev.stoker.server.session.group.Admission;
import dev.stoker.server.session.group.FeedStream;
import dev.stoker.server.threads.Threads;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The sessions of a server: whom it lets in, and each from its first thread to its last word. Thread-safe. */
final class Sessions implements PendingConnection.Gate {
    private static final Logger LOG = LoggerFactory.getLogger(Sessions.class);
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private final FeedSpec spec;
    private final ServerOptions options;
    private final Map<String, FeedStream> streams;
    private final Optional<ServerTls> tls;
    private final Session.Shared shared;
    private final ProcessLimits limits = ProcessLimits.ofThisProcess();
    /** By number, so that all are told of a change in the order in which they came. */
    private final ConcurrentNavigableMap<Long, Session> running = new ConcurrentSkipListMap<>();

    private final AtomicLong numbers = new AtomicLong();
    private final Threads threads;
    private final Threads.Timer timer;
    /** Guards who leaves, for those who wait for the last. */
    private final Lock lock;

    private final Condition oneLeft;
    private final RateLimitedLog exhausted = new RateLimitedLog(10_000);
    private volatile Instant idleSince;
    private volatile boolean ending;

    /**
     * @param streams by name; filled before the first trainer comes
     * @param tls for connections over TCP; empty for plain text
     */
    Sessions(
            FeedSpec spec,
            ServerOptions options,
            Map<String, FeedStream> streams,
            Optional<ServerTls> tls,
            Session.Shared shared) {
        this.spec = spec;
        this.options = options;
        this.streams = streams;
        this.tls = tls;
        this.shared = shared;
        this.threads = shared.threads();
        this.timer = threads.timer("stoker-timer");
        this.lock = threads.lock();
        this.oneLeft = lock.newCondition();
        this.idleSince = Instant.ofEpochMilli(threads.nowMs());
    }

    /**
     * Refuses a trainer that has no right to come in, or means another feed or stream. What a token allows is looked up
     * here and nowhere else.
     */
    @Override
    public Admission judge(Hello hello) throws ProtocolException {
        FeedToken.Rights rights = rights(hello);
        if (hello.pass().feed().isPresent()
                && !hello.pass().feed().get().equals(spec.name())
                && !hello.pass().feed().get().equals(spec.id().toString())) {
            throw new ProtocolException(
                    ErrorCode.WRONG_FEED,
                    "feed " + spec.name() + " (" + spec.id() + ") is served here, not "
                            + hello.pass().feed().get() + ": check the address, or STOKER_FEED");
        }
        String stream = hello.pass().stream().orElse(spec.streams().get(0).name());
        rights.require(stream, hello.pass().group());
        if (ending) {
            throw new ProtocolException(ErrorCode.SHUTTING_DOWN, "feed " + spec.name() + " is ending");
        }
        if (size() >= options.maxSessions()) {
            throw new ProtocolException(
                    ErrorCode.INTERNAL,
                    options.maxSessions() + " trainers are connected, which is the limit: start the feed with a larger"
                            + " --max-sessions");
        }
        limits.judge(size());
        return new Admission(hello, rights, stream(stream));
    }

    /**
     * What a trainer may do by its token; everything where no token is wanted.
     *
     * @throws ProtocolException if a token is wanted, and it has none or a wrong one
     */
    private FeedToken.Rights rights(Hello hello) throws ProtocolException {
        Optional<FeedToken> token = options.access().token();
        if (token.isEmpty()) {
            return FeedToken.Rights.ALL;
        }
        return token.get()
                .rights(hello.token())
                .orElseThrow(() -> new ProtocolException(
                        ErrorCode.UNAUTHORIZED,
                        hello.token().isPresent()
                                ? "this feed does not know the token: take one from the feed's token file"
                                : "this feed requires a token: give the trainer one from the feed's token file"));
    }

    private FeedStream stream(String name) throws ProtocolException {
        FeedStream stream = streams.get(name);
        if (stream == null) {
            throw new ProtocolException(
                    ErrorCode.UNKNOWN_STREAM,
                    "feed " + spec.name() + " has no stream " + name + "; its streams are "
                            + String.join(", ", streams.keySet()) + ", see STREAM in `stoker feed --help`");
        }
        return stream;
    }

    @Override
    public Wire wire(SocketChannel channel) throws IOException {
        PlainWire plain = new PlainWire(channel);
        return tls.isPresent() && !plain.isUnix()
                ? new TlsWire(channel, tls.get().engine(), KeyLimit.bytes())
                : plain;
    }

    @Override
    public void enter(Wire channel, FrameDecoder decoder, Admission admission, byte[] rest) throws IOException {
        // A silent trainer is never cut, but one whose machine is gone must not keep its place. The peer's kernel
        // answers, so neither a long step nor a long hold of Python's interpreter lock counts.
        channel.keepAlive();
        long number = numbers.incrementAndGet();
        Session begun = new Session(this, number, admission, channel, decoder, rest);
        running.put(number, begun);
        boolean started = false;
        try {
            start(begun, "stoker-read-" + number);
            started = true;
        } finally {
            if (!started) {
                forget(begun);
            }
        }
    }

    /** Returns what the sessions have in common. */
    Session.Shared shared() {
        return shared;
    }

    /** Returns a warning if the limits of the process are too low for the sessions that are allowed. */
    Optional<String> warning() {
        return limits.warning(options.maxSessions());
    }

    /**
     * Starts a session's thread.
     *
     * @throws ProtocolException if the process may not have another one
     */
    Threads.Started start(Runnable task, String name) throws ProtocolException {
        try {
            return threads.start(name, task);
        } catch (OutOfMemoryError e) {
            int sessions = running.size();
            if (exhausted.permits(threads.nanoTime() / 1_000_000)) {
                LOG.warn(
                        "Cannot start a thread for another trainer beside {} sessions: {}; raise the limits of threads"
                                + " (ulimit -u, pids.max of the container), or lower --max-sessions",
                        sessions,
                        e.getMessage());
            }
            throw new ProtocolException(
                    ErrorCode.INTERNAL,
                    "the feeder has no thread left for another trainer beside " + sessions
                            + ": raise its limits of threads (ulimit -u, pids.max of the container)");
        }
    }

    /** The session has ended and its threads are done. */
    void left(Session session) {
        long now = System.nanoTime();
        shared.counters().waitedNanos.add(session.clock().waitedNanos(now));
        shared.counters().subscribedNanos.add(session.clock().subscribedNanos(now));
        forget(session);
    }

    private void forget(Session session) {
        lock.lock();
        try {
            running.remove(session.number());
            if (isIdle() && !session.isLooking()) {
                idleSince = Instant.ofEpochMilli(threads.nowMs());
            }
            oneLeft.signalAll();
        } finally {
            lock.unlock();
        }
    }

    int size() {
        return running.size();
    }

    void forEach(Consumer<Session> action) {
        running.values().forEach(action);
    }

    /** Since when no trainer is connected; empty while one is. */
    Optional<Instant> idleSince() {
        return isIdle() ? Optional.of(idleSince) : Optional.empty();
    }

    /** Who only looks is no trainer. */
    private boolean isIdle() {
        return running.values().stream().allMatch(Session::isLooking);
    }

    /** The share of their time in which trainers have waited for data, of all sessions ever. */
    double waitedShare() {
        long now = System.nanoTime();
        long waited = shared.counters().waitedNanos.sum();
        long subscribed = shared.counters().subscribedNanos.sum();
        for (Session session : running.values()) {
            waited += session.clock().waitedNanos(now);
            subscribed += session.clock().subscribedNanos(now);
        }
        return subscribed == 0 ? 0 : (double) waited / subscribed;
    }

    /** Closes the channel in a second, by when the peer has read its farewell; a thread blocked on it is released. */
    void closeLater(Wire channel) {
        timer.after(FAREWELL, () -> close(channel));
    }

    private static void close(Wire channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("A connection did not close cleanly", e);
        }
    }

    /** Lets nobody in from now on. */
    void shut() {
        ending = true;
    }

    /** Tells every trainer, and waits until the sessions have ended, but not for ever. */
    void end(ErrorCode code, String why) {
        running.values().forEach(session -> session.end(code, why));
        await();
        stopTimer();
    }

    /** For a server that never let anybody in. */
    void stopTimer() {
        timer.close();
    }

    private void await() {
        long leftNanos = 2 * FAREWELL.toNanos();
        lock.lock();
        try {
            while (!running.isEmpty() && leftNanos > 0) {
                leftNanos = oneLeft.awaitNanos(leftNanos);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }
}

package dev.stoker.client.feeder;

import dev.stoker.client.errors.ConnectionLostException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.RefusedException;
import dev.stoker.client.errors.TlsException;
import dev.stoker.client.errors.UnauthorizedException;
import dev.stoker.client.source.FeedOptions;
import dev.stoker.client.transport.Address;
import dev.stoker.client.transport.HostNames;
import dev.stoker.client.transport.LocalTransport;
import dev.stoker.client.transport.Security;
import dev.stoker.client.transport.Target;
import dev.stoker.client.transport.Timing;
import dev.stoker.client.transport.Tls;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.protocol.Bye;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Ping;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * All connections of one client: waits for sockets, connects, disconnects and moves lanes. {@link #run} is the input
 * thread. The client's lock guards the state that it shares with the trainer's thread; the input thread does not hold
 * the lock while it waits or reads.
 */
final class Network implements FeederPool.Dialler, Runnable {
    /** How many connections in a row may end with a malformed frame or an internal error of the feeder. */
    private static final int MAX_BROKEN = 4;
    /** Bytes received from one connection before the others get a turn. */
    private static final long ROUND_BYTES = 4 << 20;

    private static final long SOON_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long WAITING_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long BUSY_NS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(1);
    /** How long closing a client waits for the delivery of the last receipts. */
    private static final long PART_NS = TimeUnit.SECONDS.toNanos(1);

    private final ReentrantLock lock;
    private final Condition changed;
    private final Timing timing;
    private final Subscriptions subscriptions;
    private final IntFunction<Hello> hello;
    private final Target target;
    private final Security security;
    private final Selector selector;
    private final FeederPool pool;
    private final Set<FeederConnection> connections = new LinkedHashSet<>();
    /** Links that may have more data to read. */
    private final Set<FeederConnection> hot = new LinkedHashSet<>();

    private final LivenessCheck liveness;
    private final Admission admission;
    private @Nullable FrameHandler frameHandler;
    private @Nullable FeedException failure;
    private volatile long tickAtNs = System.nanoTime();
    private volatile boolean stopping;
    private final HostNames names = new HostNames(InetAddress::getAllByName);

    /** Whether all connections are being closed, to continue over new ones. */
    private boolean turning;
    /** Since when the trainer has waited for a batch. */
    private Optional<Long> waitingSinceNs = Optional.empty();

    private int broken;
    private int reconnects;
    private long pings;

    Network(
            ReentrantLock lock,
            Condition changed,
            Target target,
            FeedOptions options,
            Subscriptions subscriptions,
            IntFunction<Hello> hello) {
        this.lock = lock;
        this.target = target;
        this.security = options.security();
        this.changed = changed;
        this.timing = options.timing();
        this.liveness = new LivenessCheck(timing);
        this.admission = new Admission(options.placeTimeout(), timing.admission(), new java.util.Random());
        this.subscriptions = subscriptions;
        this.hello = hello;
        try {
            this.selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        LocalTransport local = security.allowsUnix() ? options.local() : LocalTransport.TCP;
        this.pool = new FeederPool(target, local, timing, this, new java.util.Random(), System.nanoTime());
    }

    /** Sets the receiver of frames. Called before the thread starts. */
    void attach(FrameHandler sink) {
        frameHandler = sink;
    }

    private FrameHandler handler() {
        return Objects.requireNonNull(frameHandler, "attach() sets it");
    }

    FeederPool pool() {
        return pool;
    }

    int reconnects() {
        return reconnects;
    }

    /** The failure that ended the client. */
    Optional<FeedException> failure() {
        return Optional.ofNullable(failure);
    }

    /** Wakes the thread because something changed that needs attention at once. */
    void hurry() {
        tickAtNs = System.nanoTime();
        selector.wakeup();
    }

    /** Notes since when the trainer has waited for a batch; empty if it does not wait. */
    void waiting(Optional<Long> sinceNs) {
        waitingSinceNs = sinceNs;
        if (sinceNs.isPresent() && tickAtNs - sinceNs.get() > WAITING_NS) {
            hurry();
        }
    }

    /** How long the trainer has waited for the present batch; 0 if it does not wait. */
    long waitingNs(long nowNs) {
        return waitingSinceNs.map(since -> nowNs - since).orElse(0L);
    }

    /** Asks the thread to end all connections and to send HELLO again. Until then {@link #isTurning} returns true. */
    void turn() {
        turning = true;
        hurry();
    }

    boolean isTurning() {
        return turning;
    }

    /**
     * Whether the client may ask for batches: every feeder that answers has given it a place, or the client only looks.
     */
    boolean isAdmitted() {
        return handler().welcome().isPresent()
                && (admission.isComplete() || handler().isLooking());
    }

    /** The state of the requests for a place. */
    Admission admission() {
        return admission;
    }

    /** Notes that another process has the place according to a feeder. The client retries for a while. */
    void placeRefused(FeederConnection connection, String text) {
        connection.refusedPlace = true;
        admission.refused(connection.address(), text, System.nanoTime()).ifPresent(this::fail);
        hurry();
    }

    /** Leaves the feeders that have admitted this client, because another feeder has not. */
    private void withdraw(long nowNs) {
        leave(nowNs);
        if (!handler().beginAgain()) {
            pool.beginAgain();
        }
    }

    /** Closes all connections. The new ones take over the receipts that are not durable. */
    private void leave(long nowNs) {
        admission.restart();
        subscriptions.leave();
        for (FeederConnection connection : List.copyOf(connections)) {
            if (connection.isLive()) {
                connection.send(new Bye());
            }
            pool.left(connection, nowNs);
            drop(connection);
        }
        pool.askAgain();
        handler().forget();
        turning = false;
    }

    /** Ends the client: every later call throws this failure. */
    void fail(FeedException error) {
        if (failure == null) {
            failure = error;
            changed.signalAll();
        }
    }

    /** Notes a protocol violation of a feeder. Several in a row without a batch in between end the client. */
    void broken(FeedException error) {
        broken++;
        if (broken >= MAX_BROKEN) {
            fail(error);
        }
    }

    /** Notes that a batch has arrived, which resets the count of violations. */
    void sound() {
        broken = 0;
    }

    /** Asks the thread to deliver the last receipts, to say goodbye and to end. */
    void stop() {
        stopping = true;
        selector.wakeup();
    }

    // ---- the input thread

    @Override
    public void run() {
        try {
            while (!stopping) {
                step(Long.MAX_VALUE);
            }
            part(System.nanoTime() + PART_NS);
        } catch (FeedException e) {
            locked(() -> fail(e));
        } catch (IOException | RuntimeException | Error e) {
            // Catches errors too: only this thread can tell the trainer, which would otherwise wait for ever.
            locked(() -> fail(new FeedException("the client's input thread failed: " + e + advice(e), e)));
        } finally {
            release();
        }
    }

    private static String advice(Throwable failure) {
        return failure instanceof OutOfMemoryError
                ? "; raise -XX:MaxDirectMemorySize or -Xmx of the trainer, or lower bufferBytes"
                : "";
    }

    private void locked(Runnable action) {
        lock.lock();
        try {
            action.run();
        } finally {
            lock.unlock();
        }
    }

    /** Receives the available data or waits for it, and performs the actions that are due. */
    private void step(long untilNs) throws IOException {
        long nowNs = System.nanoTime();
        if (nowNs - tickAtNs >= 0) {
            lock.lock();
            try {
                tick(nowNs);
            } finally {
                lock.unlock();
            }
        }
        long waitNs = Math.min(tickAtNs - nowNs, untilNs == Long.MAX_VALUE ? IDLE_NS : untilNs - nowNs);
        if (hot.isEmpty() && waitNs > 0) {
            selector.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(waitNs)));
        } else {
            selector.selectNow();
        }
        for (SelectionKey key : selector.selectedKeys()) {
            ready(key);
        }
        selector.selectedKeys().clear();
        for (FeederConnection connection : List.copyOf(hot)) {
            receive(connection);
        }
    }

    private void ready(SelectionKey key) {
        FeederConnection connection = (FeederConnection) key.attachment();
        if (!key.isValid()) {
            return;
        }
        if (connection.state() == FeederConnection.State.CONNECTING
                || connection.state() == FeederConnection.State.SECURING) {
            locked(() -> greet(connection));
            return;
        }
        if (key.isWritable()) {
            locked(connection::flush);
        }
        if (key.isValid() && key.isReadable()) {
            hot.add(connection);
        }
    }

    private void receive(FeederConnection connection) {
        long enough = connection.bytesReceived + ROUND_BYTES;
        try {
            while (!connection.isClosed() && connection.receive()) {
                if (connection.bytesReceived >= enough) {
                    return;
                }
            }
            hot.remove(connection);
        } catch (ConnectionLostException e) {
            locked(() -> {
                if (e.kind() == ConnectionLostException.Kind.BROKEN) {
                    broken(new RefusedException(ErrorText.of(e), "bad_frame"));
                }
                lost(connection, ErrorText.of(e), e.kind() == ConnectionLostException.Kind.ELSEWHERE);
            });
        } catch (TlsException e) {
            locked(() -> refused(connection, e));
        }
    }

    private void greet(FeederConnection connection) {
        Hello first;
        try {
            if (connection.state() == FeederConnection.State.CONNECTING) {
                connection.finishConnect(System.nanoTime());
            }
            if (!connection.secure()) {
                return;
            }
            first = hello.apply(pool.handover(connection));
        } catch (IOException e) {
            lost(connection, connection.address() + ": " + e.getMessage(), false);
            return;
        } catch (TlsException | UnauthorizedException e) {
            refused(connection, e);
            return;
        }
        connection.greeted(System.nanoTime());
        connection.send(first);
    }

    /** Handles a connection that security forbids. A client that was welcomed before waits until this is corrected. */
    private void refused(FeederConnection connection, FeedException why) {
        if (handler().first().isEmpty()) {
            fail(why);
        }
        lost(connection, ErrorText.of(why), false);
    }

    /** Switches to the feeder's Unix-domain socket if the feeder is on this machine, before anything is requested. */
    void comeNearer(FeederConnection connection) {
        if (pool.comeNearer(connection, System.nanoTime())) {
            connection.send(new Bye());
            drop(connection);
        }
    }

    private void tick(long nowNs) {
        if (turning) {
            leave(nowNs);
        }
        if (admission.isWithdrawing()) {
            withdraw(nowNs);
        }
        boolean isAdmitted = isAdmitted();
        boolean isActive = !isAdmitted || waitingSinceNs.isPresent() || subscriptions.isOpen();
        if (failure == null && isActive && !admission.isPausing(nowNs)) {
            if (!isAdmitted) {
                pool.askEveryone(nowNs);
            }
            pool.care(nowNs);
        }
        subscriptions.flushDue(nowNs);
        handler().renewStale(nowNs, timing.refetch().toNanos());
        handler().tellStatsIfDue(nowNs);
        if (waitingSinceNs.isPresent()) {
            probe(nowNs, waitingSinceNs.get());
        }
        if (isActive && !pool.live().isEmpty() && admission.lookAt(pool, nowNs)) {
            if (!isAdmitted) {
                changed.signalAll();
            }
            arrange(nowNs);
        }
        // Attempts, probes and receipts need more frequent checks than an idle session.
        boolean isAttempting =
                connections.isEmpty() || connections.stream().anyMatch(connection -> !connection.isLive());
        if (isActive && isAttempting) {
            tickAtNs = nowNs + SOON_NS;
        } else if (subscriptions.receipts().isWaiting() || waitingSinceNs.isPresent()) {
            tickAtNs = nowNs + WAITING_NS;
        } else {
            tickAtNs = nowNs + (isActive ? BUSY_NS : IDLE_NS);
        }
    }

    // ---- connections

    @Override
    public FeederConnection dial(String address, int attempt, Optional<String> near) throws IOException {
        Address place = Address.parse(address).orElseThrow(() -> new IOException("'" + address + "' is not host:port"));
        Optional<String> path = near.or(place::path);
        SocketAddress resolved =
                path.isPresent() ? UnixDomainSocketAddress.of(path.get()) : place.resolve(attempt, names);
        Optional<Tls> tls = near.isPresent() ? Optional.empty() : tlsFor(address);
        FeederConnection connection = new FeederConnection(
                new FeederConnection.Way(address, resolved, path, tls), handler(), selector, System.nanoTime());
        connections.add(connection);
        return connection;
    }

    private Optional<Tls> tlsFor(String address) throws IOException {
        try {
            return security.tlsFor(target, address);
        } catch (TlsException e) {
            if (handler().first().isEmpty()) {
                fail(e);
            }
            throw new IOException(e.getMessage(), e);
        }
    }

    @Override
    public void giveUp(FeederConnection connection, String why) {
        lost(connection, connection.address() + ": " + why, false);
    }

    /**
     * Handles the end of a connection. With {@code isElsewhere} its lanes do not wait for it if another feeder can
     * serve them.
     */
    private void lost(FeederConnection connection, String why, boolean isElsewhere) {
        if (connection.isClosed()) {
            return;
        }
        boolean isImpatient = isElsewhere && pool.hasAlternatives(connection.address());
        boolean wasLive = connection.isLive();
        pool.lost(connection, why, System.nanoTime(), isImpatient);
        if (wasLive) {
            reconnects++;
        }
        drop(connection);
        hurry();
    }

    private void drop(FeederConnection connection) {
        connection.close();
        subscriptions.forget(connection);
        connections.remove(connection);
        hot.remove(connection);
        liveness.forget(connection);
    }

    /** Assigns each lane to its feeder, and subscribes where the assignment changed. */
    private void arrange(long nowNs) {
        Map<String, Set<Integer>> lanes = pool.arrange();
        for (FeederConnection connection : pool.live()) {
            subscriptions.settle(connection, lanes.getOrDefault(connection.address(), Set.of()));
        }
        for (FeederConnection connection : pool.unused()) {
            subscriptions.flush();
            connection.send(new Bye());
            pool.lost(connection, connection.address() + ": not needed", nowNs, false);
            drop(connection);
        }
    }

    // // ---- silent feeders

    /** Sends a PING to silent feeders and disconnects from feeders that do not answer. */
    private void probe(long nowNs, long sinceNs) {
        for (FeederConnection connection : pool.live()) {
            switch (liveness.verdict(connection, pool.hasAlternatives(connection.address()), nowNs, sinceNs)) {
                case LIVES -> {}
                case ASK -> ping(connection);
                case DEAD -> {
                    pool.silent(connection, nowNs);
                    lost(
                            connection,
                            connection.address() + ": silent for " + liveness.quietNs(connection, nowNs) / 1_000_000
                                    + " ms",
                            true);
                }
            }
        }
    }

    private long ping(FeederConnection connection) {
        pings++;
        connection.send(new Ping(pings));
        return pings;
    }

    /** Nanoseconds since the last sign of life on an awaited connection. */
    long quietNs(FeederConnection connection, long nowNs) {
        return liveness.quietNs(connection, nowNs);
    }

    // // ---- closing

    /** Delivers the last receipts, over a new connection if necessary, and says goodbye. */
    private void part(long deadlineNs) throws IOException {
        locked(() -> handler().tellStats(System.nanoTime()));
        Map<FeederConnection, Long> asked = new HashMap<>();
        boolean isDelivered = false;
        while (!isDelivered && System.nanoTime() - deadlineNs < 0) {
            lock.lock();
            try {
                if (failure != null) {
                    break;
                }
                subscriptions.end();
                subscriptions.flush();
                for (FeederConnection connection : pool.live()) {
                    if (!connection.undurable.isEmpty() && !asked.containsKey(connection)) {
                        asked.put(connection, ping(connection));
                    }
                }
                // A feeder that answers a PING has read the receipts before it.
                isDelivered = !subscriptions.isUndelivered()
                        && pool.live().stream()
                                .allMatch(connection -> connection.ponged >= asked.getOrDefault(connection, 0L));
            } finally {
                lock.unlock();
            }
            if (!isDelivered) {
                step(System.nanoTime() + WAITING_NS);
            }
        }
        List<FeederConnection> left = new ArrayList<>();
        locked(() -> {
            for (FeederConnection connection : pool.live()) {
                connection.send(new Bye());
                connection.shutdownOutput();
                left.add(connection);
            }
        });
        while (!left.isEmpty() && System.nanoTime() - deadlineNs < 0) {
            selector.select(10);
            selector.selectedKeys().clear();
            left.removeIf(connection -> !connection.skip());
        }
    }

    private void release() {
        lock.lock();
        try {
            for (FeederConnection connection : List.copyOf(connections)) {
                drop(connection);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        try {
            selector.close();
        } catch (IOException e) {
            // Nothing depends on it any more.
        }
    }
}

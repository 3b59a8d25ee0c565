package dev.stoker.client.feeder;

import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.TlsException;
import dev.stoker.client.errors.UnauthorizedException;
import dev.stoker.client.source.ClientOptions;
import dev.stoker.client.transport.LocalTransport;
import dev.stoker.client.transport.Target;
import dev.stoker.client.transport.Timing;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.Hello;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Selector;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * All connections of one client: connects, disconnects, moves lanes, and tells silent feeders from slow ones. {@link
 * InputThread} receives and calls {@link #tick}. Guarded by the client's lock, except where a field says otherwise.
 */
final class Network implements FeederPool.Dialler {
    /** How many connections in a row may end with a malformed frame or an internal error of the feeder. */
    private static final int MAX_BROKEN = 4;

    private static final long SOON_NS = TimeUnit.MILLISECONDS.toNanos(20);
    /** Between two ticks while the trainer waits. */
    static final long WAITING_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final long BUSY_NS = TimeUnit.MILLISECONDS.toNanos(250);
    /** The longest time between two ticks. */
    static final long IDLE_NS = TimeUnit.SECONDS.toNanos(1);

    private final Condition changed;
    private final Timing timing;
    private final Subscriptions subscriptions;
    private final IntFunction<Hello> hello;
    private final Selector selector;
    private final ConnectionOpener opener;
    private final FeederPool pool;
    private final Set<FeederConnection> connections = new LinkedHashSet<>();

    private final LivenessCheck liveness;
    private final Admission admission;
    private @Nullable FrameHandler frameHandler;
    private @Nullable FeedException failure;
    /** When {@link #tick} is due. Any thread. */
    private volatile long tickAtNs = System.nanoTime();

    /** Whether all connections are being closed, to continue over new ones. */
    private boolean rejoining;
    /** Since when the trainer has waited for a batch. */
    private Optional<Long> waitingSinceNs = Optional.empty();

    private int broken;
    private int reconnects;

    Network(
            Condition changed,
            Target target,
            ClientOptions options,
            Subscriptions subscriptions,
            IntFunction<Hello> hello) {
        this.changed = changed;
        this.timing = options.timing();
        this.liveness = new LivenessCheck(timing);
        this.admission = new Admission(options.placeTimeout(), timing.admission(), new Random());
        this.subscriptions = subscriptions;
        this.hello = hello;
        try {
            this.selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.opener = new ConnectionOpener(target, options.security(), selector);
        LocalTransport local = options.security().allowsUnix() ? options.local() : LocalTransport.TCP;
        this.pool = new FeederPool(target, local, timing, this, new Random(), System.nanoTime());
    }

    /** Sets the receiver of frames. Called before the thread starts. */
    void attach(FrameHandler sink) {
        frameHandler = sink;
    }

    private FrameHandler handler() {
        return Objects.requireNonNull(frameHandler, "attach() sets it");
    }

    /** Reports the sockets that are ready, to the input thread. */
    Selector selector() {
        return selector;
    }

    /** When {@link #tick} is due. Any thread. */
    long tickAtNs() {
        return tickAtNs;
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

    /** Asks the thread to end all connections and to send HELLO again. Until then {@link #isRejoining} returns true. */
    void rejoin() {
        rejoining = true;
        hurry();
    }

    boolean isRejoining() {
        return rejoining;
    }

    /**
     * Whether the client may ask for batches: every feeder that answers has given it a place, or the client only looks.
     */
    boolean isAdmitted() {
        return handler().agreement().welcome().isPresent()
                && (admission.isComplete() || handler().agreement().isLooking());
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
        rejoining = false;
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

    // ---- connections

    /** Handles a socket that is ready before HELLO was sent: continues to connect, and finally sends HELLO. */
    void greet(FeederConnection connection) {
        Hello first;
        try {
            if (connection.state() == FeederConnection.State.CONNECTING) {
                connection.finishConnect(System.nanoTime());
            }
            if (!connection.secure()) {
                return;
            }
            first = hello.apply(pool.local().localFiles(connection));
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
    void refused(FeederConnection connection, FeedException why) {
        if (handler().agreement().first().isEmpty()) {
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

    /** Performs the actions that are due, and decides when the next ones are. */
    void tick(long nowNs) {
        if (rejoining) {
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
        handler().batches().renewStale(nowNs, timing.refetch().toNanos());
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

    @Override
    public FeederConnection dial(String address, int attempt, Optional<String> near) throws IOException {
        try {
            FeederConnection connection = opener.open(address, attempt, near, handler());
            connections.add(connection);
            return connection;
        } catch (TlsException e) {
            if (handler().agreement().first().isEmpty()) {
                fail(e);
            }
            throw new IOException(e.getMessage(), e);
        }
    }

    @Override
    public void abandon(FeederConnection connection, String why) {
        lost(connection, connection.address() + ": " + why, false);
    }

    /**
     * Handles the end of a connection. With {@code isElsewhere} its lanes do not wait for it if another feeder can
     * serve them.
     */
    void lost(FeederConnection connection, String why, boolean isElsewhere) {
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

    // ---- silent feeders

    /** Sends a PING to silent feeders and disconnects from feeders that do not answer. */
    private void probe(long nowNs, long sinceNs) {
        for (FeederConnection connection : pool.live()) {
            switch (liveness.verdict(connection, pool.hasAlternatives(connection.address()), nowNs, sinceNs)) {
                case LIVES -> {}
                case ASK -> liveness.ping(connection);
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

    /** Nanoseconds since the last sign of life on an awaited connection. */
    long quietNs(FeederConnection connection, long nowNs) {
        return liveness.quietNs(connection, nowNs);
    }

    // ---- closing

    /** Sends the trainer's last statistics. */
    void tellStats() {
        handler().tellStats(System.nanoTime());
    }

    Farewell farewell() {
        return new Farewell(pool, subscriptions, liveness);
    }

    /** Closes all connections, and wakes the trainer. */
    void release() {
        for (FeederConnection connection : List.copyOf(connections)) {
            drop(connection);
        }
        changed.signalAll();
    }
}

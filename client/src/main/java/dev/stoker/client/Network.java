package dev.stoker.client;

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
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;

/**
 * All connections of one client: waits for sockets, connects, disconnects and moves lanes. {@link #run} is the input
 * thread. The client's lock guards the state that it shares with the trainer's thread; the input thread does not hold
 * the lock while it waits or reads.
 */
final class Network implements Peers.Dialler, Runnable {
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
    private final Demand demand;
    private final IntFunction<Hello> hello;
    private final Target target;
    private final Security security;
    private final Selector selector;
    private final Peers peers;
    private final Set<Link> links = new LinkedHashSet<>();
    /** Links that may have more data to read. */
    private final Set<Link> hot = new LinkedHashSet<>();

    private final Silence silence;
    private final Admission admission;
    private Inbox inbox;
    private FeedException failure;
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
            Demand demand,
            IntFunction<Hello> hello) {
        this.lock = lock;
        this.target = target;
        this.security = options.security();
        this.changed = changed;
        this.timing = options.timing();
        this.silence = new Silence(timing);
        this.admission = new Admission(options.placeTimeout(), timing.admission(), new java.util.Random());
        this.demand = demand;
        this.hello = hello;
        try {
            this.selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Nearby nearby = security.allowsUnix() ? options.nearby() : Nearby.TCP;
        this.peers = new Peers(target, nearby, timing, this, new java.util.Random(), System.nanoTime());
    }

    /** Sets the receiver of frames. Called before the thread starts. */
    void attach(Inbox sink) {
        inbox = sink;
    }

    Peers peers() {
        return peers;
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
        return inbox.welcome().isPresent() && (admission.isComplete() || inbox.isLooking());
    }

    /** The state of the requests for a place. */
    Admission admission() {
        return admission;
    }

    /** Notes that another process has the place according to a feeder. The client retries for a while. */
    void placeRefused(Link link, String text) {
        link.refusedPlace = true;
        admission.refused(link.address(), text, System.nanoTime()).ifPresent(this::fail);
        hurry();
    }

    /** Leaves the feeders that have admitted this client, because another feeder has not. */
    private void withdraw(long nowNs) {
        leave(nowNs);
        if (!inbox.beginAgain()) {
            peers.beginAgain();
        }
    }

    /** Closes all connections. The new ones take over the receipts that are not durable. */
    private void leave(long nowNs) {
        admission.restart();
        demand.leave();
        for (Link link : List.copyOf(links)) {
            if (link.isLive()) {
                link.send(new Bye());
            }
            peers.left(link, nowNs);
            drop(link);
        }
        peers.askAgain();
        inbox.forget();
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
        for (Link link : List.copyOf(hot)) {
            receive(link);
        }
    }

    private void ready(SelectionKey key) {
        Link link = (Link) key.attachment();
        if (!key.isValid()) {
            return;
        }
        if (link.state() == Link.State.CONNECTING || link.state() == Link.State.SECURING) {
            locked(() -> greet(link));
            return;
        }
        if (key.isWritable()) {
            locked(link::flush);
        }
        if (key.isValid() && key.isReadable()) {
            hot.add(link);
        }
    }

    private void receive(Link link) {
        long enough = link.bytesReceived + ROUND_BYTES;
        try {
            while (!link.isClosed() && link.receive()) {
                if (link.bytesReceived >= enough) {
                    return;
                }
            }
            hot.remove(link);
        } catch (LinkException e) {
            locked(() -> {
                if (e.kind() == LinkException.Kind.BROKEN) {
                    broken(new RefusedException(e.getMessage(), "bad_frame"));
                }
                lost(link, e.getMessage(), e.kind() == LinkException.Kind.ELSEWHERE);
            });
        } catch (TlsException e) {
            locked(() -> refused(link, e));
        }
    }

    private void greet(Link link) {
        Hello first;
        try {
            if (link.state() == Link.State.CONNECTING) {
                link.finishConnect(System.nanoTime());
            }
            if (!link.secure()) {
                return;
            }
            first = hello.apply(peers.handover(link));
        } catch (IOException e) {
            lost(link, link.address() + ": " + e.getMessage(), false);
            return;
        } catch (TlsException | UnauthorizedException e) {
            refused(link, e);
            return;
        }
        link.greeted(System.nanoTime());
        link.send(first);
    }

    /** Handles a connection that security forbids. A client that was welcomed before waits until this is corrected. */
    private void refused(Link link, FeedException why) {
        if (inbox.first().isEmpty()) {
            fail(why);
        }
        lost(link, why.getMessage(), false);
    }

    /** Switches to the feeder's Unix-domain socket if the feeder is on this machine, before anything is requested. */
    void comeNearer(Link link) {
        if (peers.comeNearer(link, System.nanoTime())) {
            link.send(new Bye());
            drop(link);
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
        boolean isActive = !isAdmitted || waitingSinceNs.isPresent() || demand.isOpen();
        if (failure == null && isActive && !admission.isPausing(nowNs)) {
            if (!isAdmitted) {
                peers.askEveryone(nowNs);
            }
            peers.care(nowNs);
        }
        demand.flushDue(nowNs);
        inbox.renewStale(nowNs, timing.refetch().toNanos());
        inbox.tellStatsIfDue(nowNs);
        if (waitingSinceNs.isPresent()) {
            probe(nowNs, waitingSinceNs.get());
        }
        if (isActive && !peers.live().isEmpty() && admission.lookAt(peers, nowNs)) {
            if (!isAdmitted) {
                changed.signalAll();
            }
            arrange(nowNs);
        }
        // Attempts, probes and receipts need more frequent checks than an idle session.
        boolean isAttempting = links.isEmpty() || links.stream().anyMatch(link -> !link.isLive());
        if (isActive && isAttempting) {
            tickAtNs = nowNs + SOON_NS;
        } else if (demand.receipts().isWaiting() || waitingSinceNs.isPresent()) {
            tickAtNs = nowNs + WAITING_NS;
        } else {
            tickAtNs = nowNs + (isActive ? BUSY_NS : IDLE_NS);
        }
    }

    // ---- connections

    @Override
    public Link dial(String address, int attempt, Optional<String> near) throws IOException {
        Address place = Address.parse(address).orElseThrow(() -> new IOException("'" + address + "' is not host:port"));
        Optional<String> path = near.or(place::path);
        SocketAddress resolved =
                path.isPresent() ? UnixDomainSocketAddress.of(path.get()) : place.resolve(attempt, names);
        Optional<Tls> tls = near.isPresent() ? Optional.empty() : tlsFor(address);
        Link link = new Link(new Link.Way(address, resolved, path, tls), inbox, selector, System.nanoTime());
        links.add(link);
        return link;
    }

    private Optional<Tls> tlsFor(String address) throws IOException {
        try {
            return security.tlsFor(target, address);
        } catch (TlsException e) {
            if (inbox.first().isEmpty()) {
                fail(e);
            }
            throw new IOException(e.getMessage(), e);
        }
    }

    @Override
    public void giveUp(Link link, String why) {
        lost(link, link.address() + ": " + why, false);
    }

    /**
     * Handles the end of a connection. With {@code isElsewhere} its lanes do not wait for it if another feeder can
     * serve them.
     */
    private void lost(Link link, String why, boolean isElsewhere) {
        if (link.isClosed()) {
            return;
        }
        boolean isImpatient = isElsewhere && peers.hasAlternatives(link.address());
        boolean wasLive = link.isLive();
        peers.lost(link, why, System.nanoTime(), isImpatient);
        if (wasLive) {
            reconnects++;
        }
        drop(link);
        hurry();
    }

    private void drop(Link link) {
        link.close();
        demand.forget(link);
        links.remove(link);
        hot.remove(link);
        silence.forget(link);
    }

    /** Assigns each lane to its feeder, and subscribes where the assignment changed. */
    private void arrange(long nowNs) {
        Map<String, Set<Integer>> lanes = peers.arrange();
        for (Link link : peers.live()) {
            demand.settle(link, lanes.getOrDefault(link.address(), Set.of()));
        }
        for (Link link : peers.unused()) {
            demand.flush();
            link.send(new Bye());
            peers.lost(link, link.address() + ": not needed", nowNs, false);
            drop(link);
        }
    }

    // // ---- silent feeders

    /** Sends a PING to silent feeders and disconnects from feeders that do not answer. */
    private void probe(long nowNs, long sinceNs) {
        for (Link link : peers.live()) {
            switch (silence.verdict(link, peers.hasAlternatives(link.address()), nowNs, sinceNs)) {
                case LIVES -> {}
                case ASK -> ping(link);
                case DEAD -> {
                    peers.silent(link, nowNs);
                    lost(
                            link,
                            link.address() + ": silent for " + silence.quietNs(link, nowNs) / 1_000_000 + " ms",
                            true);
                }
            }
        }
    }

    private long ping(Link link) {
        pings++;
        link.send(new Ping(pings));
        return pings;
    }

    /** Nanoseconds since the last sign of life on an awaited connection. */
    long quietNs(Link link, long nowNs) {
        return silence.quietNs(link, nowNs);
    }

    // // ---- closing

    /** Delivers the last receipts, over a new connection if necessary, and says goodbye. */
    private void part(long deadlineNs) throws IOException {
        locked(() -> inbox.tellStats(System.nanoTime()));
        Map<Link, Long> asked = new HashMap<>();
        boolean isDelivered = false;
        while (!isDelivered && System.nanoTime() - deadlineNs < 0) {
            lock.lock();
            try {
                if (failure != null) {
                    break;
                }
                demand.end();
                demand.flush();
                for (Link link : peers.live()) {
                    if (!link.undurable.isEmpty() && !asked.containsKey(link)) {
                        asked.put(link, ping(link));
                    }
                }
                // A feeder that answers a PING has read the receipts before it.
                isDelivered = !demand.isUndelivered()
                        && peers.live().stream().allMatch(link -> link.ponged >= asked.getOrDefault(link, 0L));
            } finally {
                lock.unlock();
            }
            if (!isDelivered) {
                step(System.nanoTime() + WAITING_NS);
            }
        }
        List<Link> left = new ArrayList<>();
        locked(() -> {
            for (Link link : peers.live()) {
                link.send(new Bye());
                link.shutdownOutput();
                left.add(link);
            }
        });
        while (!left.isEmpty() && System.nanoTime() - deadlineNs < 0) {
            selector.select(10);
            selector.selectedKeys().clear();
            left.removeIf(link -> !link.skip());
        }
    }

    private void release() {
        lock.lock();
        try {
            for (Link link : List.copyOf(links)) {
                drop(link);
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

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
 * All connections of one client: waits for sockets, dials, gives up, and moves lanes. {@link #run} is the input thread; what
 * it shares with the trainer's thread is guarded by the client's lock, which it does not hold while it waits or reads.
 */
final class Network implements Peers.Dialler, Runnable {
    /** Connections in a row that may end in a malformed frame or an inner error of the feeder. */
    private static final int MAX_BROKEN = 4;
    /** Received of one connection before the others. */
    private static final long ROUND_BYTES = 4 << 20;

    private static final long SOON_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long WAITING_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long BUSY_NS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(1);
    /** For the last receipts to be delivered when a client is closed. */
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
    /** Links that may have more to read. */
    private final Set<Link> hot = new LinkedHashSet<>();

    private final Silence silence;
    private final Admission admission;
    private Inbox inbox;
    private FeedException failure;
    private volatile long tickAtNs = System.nanoTime();
    private volatile boolean stopping;
    /** Whether all connections are to be ended, to go on over new ones. */
    private final HostNames names = new HostNames(InetAddress::getAllByName);

    private boolean turning;
    /** Since when the trainer waits for a batch. */
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

    /** Says who takes the frames; before the thread starts. */
    void attach(Inbox sink) {
        inbox = sink;
    }

    Peers peers() {
        return peers;
    }

    int reconnects() {
        return reconnects;
    }

    /** What ended the client for good. */
    Optional<FeedException> failure() {
        return Optional.ofNullable(failure);
    }

    /** Something has changed that should be looked after at once. */
    void hurry() {
        tickAtNs = System.nanoTime();
        selector.wakeup();
    }

    /** The trainer waits for a batch since then, or no longer. */
    void waiting(Optional<Long> sinceNs) {
        waitingSinceNs = sinceNs;
        if (sinceNs.isPresent() && tickAtNs - sinceNs.get() > WAITING_NS) {
            hurry();
        }
    }

    /** For how long the trainer has waited for the batch that it waits for; 0 if it does not. */
    long waitingNs(long nowNs) {
        return waitingSinceNs.map(since -> nowNs - since).orElse(0L);
    }

    /** Asks the thread to end all connections and to say HELLO anew; until it has, {@link #isTurning} holds. */
    void turn() {
        turning = true;
        hurry();
    }

    boolean isTurning() {
        return turning;
    }

    /** Whether the client may ask for batches: every feeder that answers has given it a place; or it only looks. */
    boolean isAdmitted() {
        return inbox.welcome().isPresent() && (admission.isComplete() || inbox.isLooking());
    }

    /** Every feeder that answered has been asked for a place. */
    Admission admission() {
        return admission;
    }

    /** A feeder says that another process has the place. The client tries again for a while. */
    void placeRefused(Link link, String text) {
        link.refusedPlace = true;
        admission.refused(link.address(), text, System.nanoTime()).ifPresent(this::fail);
        hurry();
    }

    /** Leaves the feeders that have admitted this client, as another one has not. */
    private void withdraw(long nowNs) {
        leave(nowNs);
        if (!inbox.beginAgain()) {
            peers.beginAgain();
        }
    }

    /** The new connections take the receipts over that are not durable. */
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

    /** Ends the client: every later call throws this. */
    void fail(FeedException error) {
        if (failure == null) {
            failure = error;
            changed.signalAll();
        }
    }

    /** A feeder did what it must not; repeated without a batch in between, it ends the client. */
    void broken(FeedException error) {
        broken++;
        if (broken >= MAX_BROKEN) {
            fail(error);
        }
    }

    /** A batch has come: what was broken before does not count any more. */
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
            // An Error too: nobody but this thread could tell the trainer, which would wait for ever.
            locked(() -> fail(new FeedException("the client's input thread has failed: " + e + advice(e), e)));
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

    /** Receives what is there, or waits for it; looks after what time demands. */
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

    /** Security forbids the connection. A client that was welcomed before waits for that to be mended. */
    private void refused(Link link, FeedException why) {
        if (inbox.first().isEmpty()) {
            fail(why);
        }
        lost(link, why.getMessage(), false);
    }

    /** Goes over to the feeder's Unix-domain socket if it is on this machine, before anything was asked of it. */
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
        // Attempts, probes and receipts need a closer look than a session without demand.
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

    /** A connection has ended; with {@code isElsewhere} its lanes do not wait for it if another could serve them. */
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

    /** Puts each lane where it belongs now, and subscribes where something changed. */
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

    // ---- silence

    /** Asks silent feeders whether they live; gives up those that do not answer. */
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

    /** Nanoseconds since something was heard of an awaited connection. */
    long quietNs(Link link, long nowNs) {
        return silence.quietNs(link, nowNs);
    }

    // ---- the end

    /** Delivers the last receipts, over a new connection if need be, and says goodbye. */
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
                // Whoever answers a PING has read the receipts before it.
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

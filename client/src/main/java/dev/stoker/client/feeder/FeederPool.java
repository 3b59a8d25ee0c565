package dev.stoker.client.feeder;

import dev.stoker.client.errors.FeedNotFoundException;
import dev.stoker.client.transport.LocalTransport;
import dev.stoker.client.transport.Target;
import dev.stoker.client.transport.Timing;
import dev.stoker.schemas.protocol.LaneMap;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * The feeders that a client knows: when to connect to each, how long to wait, and when to avoid it. {@link
 * LaneAssignment} says which lane is read where, {@link LocalFeeders} which feeders are on this machine. Guarded by the
 * client's lock.
 */
final class FeederPool {
    /** Opens and closes connections. */
    interface Dialler {
        /**
         * @param attempt chooses among the addresses of a host
         * @param path of the Unix-domain socket to use instead of the address, if there is one
         */
        FeederConnection dial(String address, int attempt, Optional<String> path) throws IOException;

        void abandon(FeederConnection connection, String why);
    }

    private static final long FIND_NS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final double LONGEST_PAUSE_S = 1.0;
    private static final double FIRST_PAUSE_S = 0.02;

    private final Target target;
    private final Timing timing;
    private final Dialler dialler;
    private final RandomGenerator random;
    private final Map<String, PooledFeeder> byAddress = new LinkedHashMap<>();
    private final LaneRoutes lanes = new LaneRoutes();
    private final LocalFeeders local;

    private Optional<Long> darkSinceNs = Optional.empty();
    private List<String> found = List.of();
    private long findAtNs;
    private int nextAddress;
    private int failovers;

    FeederPool(
            Target target, LocalTransport local, Timing timing, Dialler dialler, RandomGenerator random, long nowNs) {
        this.target = target;
        this.local = new LocalFeeders(local);
        this.timing = timing;
        this.dialler = dialler;
        this.random = random;
        this.findAtNs = nowNs;
    }

    PooledFeeder peer(String address, long nowNs) {
        return byAddress.computeIfAbsent(
                address,
                a -> new PooledFeeder(a, nowNs, (long) (timing.failover().toNanos() * (1 + random.nextDouble() / 2))));
    }

    Optional<PooledFeeder> known(String address) {
        return Optional.ofNullable(byAddress.get(address));
    }

    LaneRoutes lanes() {
        return lanes;
    }

    LocalFeeders local() {
        return local;
    }

    /** Welcomed connections. */
    List<FeederConnection> live() {
        List<FeederConnection> live = new ArrayList<>();
        for (PooledFeeder peer : byAddress.values()) {
            peer.live().ifPresent(live::add);
        }
        return live;
    }

    private List<String> liveAddresses() {
        return live().stream().map(FeederConnection::address).toList();
    }

    int failovers() {
        return failovers;
    }

    /** Adopts a lane map if it is newer, or if no other feeder is known to be alive. Returns whether it did. */
    boolean adopt(LaneMap map, long nowNs) {
        if (!lanes.isOlderThan(map) && live().size() > 1) {
            return false;
        }
        local.adopt(map.unix());
        if (lanes.adopt(map)) {
            for (PooledFeeder peer : byAddress.values()) {
                if (peer.connection == null) {
                    peer.downSinceNs = nowNs;
                    peer.nextTryNs = nowNs;
                }
            }
        }
        return true;
    }

    /** Whether other feeders could serve every lane of an address. */
    boolean hasAlternatives(String address) {
        return lanes.hasAlternatives(address, liveAddresses());
    }

    /**
     * Handles the end of a connection.
     *
     * @param isImpatient whether its lanes move to other feeders without waiting for this address
     */
    void lost(FeederConnection connection, String why, long nowNs, boolean isImpatient) {
        PooledFeeder peer = byAddress.get(connection.address());
        if (peer == null || peer.connection != connection) {
            return;
        }
        boolean wasLive = connection.isLive();
        if (!wasLive && !connection.refusedPlace) {
            connection.path().ifPresent(local::failed);
        }
        if (connection.state() == FeederConnection.State.CONNECTING
                && nowNs - connection.sinceNs <= timing.attempt().toNanos()) {
            peer.gone();
        }
        peer.connection = null;
        peer.answered = true;
        peer.error = why;
        if (wasLive) {
            peer.attempts = 0;
            peer.downSinceNs = nowNs;
        }
        if (isImpatient) {
            peer.downSinceNs = nowNs - peer.patienceNs - 1;
        }
        peer.nextTryNs = nowNs + (wasLive ? 0 : pauseNs(peer));
        peer.attempts++;
    }

    /** Notes that a live feeder gives no sign of life; see {@link PooledFeeder#silent}. */
    void silent(FeederConnection connection, long nowNs) {
        known(connection.address()).ifPresent(peer -> peer.silent(timing, nowNs));
    }

    /** Notes that this side ended a connection and wants a new one at once. */
    void left(FeederConnection connection, long nowNs) {
        PooledFeeder peer = byAddress.get(connection.address());
        if (peer != null && peer.connection == connection) {
            peer.connection = null;
            peer.attempts = 0;
            peer.downSinceNs = nowNs;
            peer.nextTryNs = nowNs;
        }
        lanes.forgetServing();
    }

    private long pauseNs(PooledFeeder peer) {
        double seconds = Math.min(LONGEST_PAUSE_S, FIRST_PAUSE_S * Math.pow(2, Math.min(peer.attempts, 20)));
        return (long) (seconds * (0.5 + random.nextDouble()) * 1e9);
    }

    /** Notes that a connection has become live. */
    void welcomed(FeederConnection connection) {
        known(connection.address()).ifPresent(PooledFeeder::welcomed);
        darkSinceNs = Optional.empty();
        lanes.welcomed(connection.address());
    }

    /** Looks for the feeders one after the other again, because each of them can begin a run. */
    void beginAgain() {
        lanes.forgetMap();
    }

    /** Whether a feeder has welcomed this client, or cannot be reached. */
    boolean hasAnswered(String address) {
        PooledFeeder peer = byAddress.get(address);
        return peer != null && (peer.live().isPresent() || (peer.connection == null && peer.answered));
    }

    /** Called before all feeders are asked for a place. */
    void askAgain() {
        byAddress.values().forEach(peer -> peer.answered = false);
    }

    /** Requests a place from each feeder. */
    void askEveryone(long nowNs) {
        lanes.laneMap().ifPresent(map -> map.addresses().forEach(address -> attempt(peer(address, nowNs), nowNs)));
    }

    /**
     * Connects to the feeders that are needed, ends attempts that take too long, and decides which feeders to avoid.
     */
    void care(long nowNs) {
        for (PooledFeeder peer : List.copyOf(byAddress.values())) {
            checkAttempt(peer, nowNs);
        }
        if (lanes.laneMap().isEmpty()) {
            seek(nowNs);
            return;
        }
        boolean isDark = live().isEmpty();
        darkSinceNs = isDark ? darkSinceNs.or(() -> Optional.of(nowNs)) : Optional.empty();
        for (String address : lanes.forgive(timing.forgive().toNanos(), nowNs)) {
            peer(address, nowNs).downSinceNs = nowNs;
        }
        for (String address : lanes.wanted()) {
            PooledFeeder peer = peer(address, nowNs);
            if (peer.live().isEmpty()
                    && nowNs - peer.downSinceNs > peer.patienceNs
                    && (!live().isEmpty() || lanes.hasSpare(address))) {
                lanes.avoid(address, nowNs);
                failovers++;
            }
        }
        Set<String> wanted = lanes.wanted();
        if (isDark && nowNs - darkSinceNs.get() > timing.failover().toNanos()) {
            wanted.addAll(lanes.addresses());
            wanted.addAll(discovered(nowNs));
        }
        lanes.avoided().stream()
                .filter(address -> peer(address, nowNs).isToBeAsked(nowNs))
                .forEach(wanted::add);
        for (String address : wanted) {
            attempt(peer(address, nowNs), nowNs);
        }
    }

    private void checkAttempt(PooledFeeder peer, long nowNs) {
        FeederConnection connection = peer.connection;
        if (connection == null || connection.isLive()) {
            return;
        }
        boolean isConnecting = connection.state() == FeederConnection.State.CONNECTING;
        var limit = isConnecting ? timing.attempt() : timing.greeting();
        if (nowNs - connection.sinceNs > limit.toNanos()) {
            String what = switch (connection.state()) {
                case CONNECTING -> "no answer";
                case SECURING -> "no TLS handshake";
                default -> "no WELCOME";
            };
            dialler.abandon(connection, what + " within " + limit.toMillis() + " ms");
        }
    }

    /** Before the first WELCOME: tries one address after the other, because each session can begin a run. */
    private void seek(long nowNs) {
        if (byAddress.values().stream().anyMatch(peer -> peer.connection != null)) {
            return;
        }
        List<String> addresses = discovered(nowNs);
        for (int i = 0; i < addresses.size(); i++) {
            if (attempt(peer(addresses.get((nextAddress + i) % addresses.size()), nowNs), nowNs)) {
                nextAddress += i + 1;
                return;
            }
        }
    }

    private List<String> discovered(long nowNs) {
        if (nowNs - findAtNs >= 0) {
            findAtNs = nowNs + FIND_NS;
            try {
                found = target.addresses();
                local.add(target.unix());
            } catch (FeedNotFoundException e) {
                if (lanes.laneMap().isEmpty()) {
                    throw e;
                }
            }
        }
        return found;
    }

    private boolean attempt(PooledFeeder peer, long nowNs) {
        if (peer.connection != null || nowNs - peer.nextTryNs < 0) {
            return false;
        }
        if (dialNear(peer)) {
            return true;
        }
        try {
            peer.connection = dialler.dial(peer.address, peer.attempts, Optional.empty());
        } catch (IOException | RuntimeException e) {
            peer.gone();
            peer.answered = true;
            peer.error = peer.address + ": " + (e.getMessage() == null ? e.toString() : e.getMessage());
            peer.nextTryNs = nowNs + pauseNs(peer);
            peer.attempts++;
            return false;
        }
        return true;
    }

    // ---- feeders on this machine

    /** Begins a connection over the feeder's Unix-domain socket; false if there is no usable one. */
    private boolean dialNear(PooledFeeder peer) {
        Optional<String> path = local.pathOf(peer.address);
        if (path.isEmpty()) {
            return false;
        }
        try {
            peer.connection = dialler.dial(peer.address, peer.attempts, path);
            return true;
        } catch (IOException | RuntimeException e) {
            local.failed(path.get());
            return false;
        }
    }

    /**
     * Switches to the Unix-domain socket of a feeder on this machine. The peer takes the new connection and releases
     * the old one.
     */
    boolean comeNearer(FeederConnection connection, long nowNs) {
        Optional<PooledFeeder> peer = known(connection.address());
        if (connection.isNear() || !peer.filter(this::dialNear).isPresent()) {
            return false;
        }
        peer.get().downSinceNs = nowNs;
        return true;
    }

    /** Gives a feeder that was named by its Unix-domain socket its address in the lane map. */
    void rename(FeederConnection connection) {
        for (String address : local.addressesOf(connection.path())) {
            if (!address.equals(connection.address()) && !byAddress.containsKey(address)) {
                PooledFeeder peer =
                        Objects.requireNonNull(byAddress.remove(connection.address()), "its feeder is known");
                peer.address = address;
                connection.rename(address);
                byAddress.put(address, peer);
                return;
            }
        }
    }

    /** Assigns lanes to feeders again. Returns the lanes of each live address that has any. */
    Map<String, Set<Integer>> arrange() {
        return lanes.arrange(liveAddresses());
    }

    /** Live connections that serve no lane and are not needed otherwise. */
    List<FeederConnection> unused() {
        if (!lanes.isComplete()) {
            return List.of();
        }
        return live().stream()
                .filter(connection -> !lanes.isServing(connection.address()))
                .toList();
    }

    /** Whether an attempt has failed. */
    boolean wasRefused() {
        return byAddress.values().stream().anyMatch(peer -> peer.attempts > 0);
    }

    /** The state of each address that is not connected. */
    String describe() {
        return byAddress.values().stream()
                .filter(peer -> peer.live().isEmpty())
                .map(peer -> peer.error.contains(peer.address)
                        ? peer.error
                        : peer.address + ": " + (peer.error.isEmpty() ? "no answer yet" : peer.error))
                .collect(Collectors.joining("; "));
    }
}

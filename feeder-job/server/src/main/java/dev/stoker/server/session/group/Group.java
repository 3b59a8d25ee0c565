package dev.stoker.server.session.group;

import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.GroupFacts;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.security.TokenRights;
import dev.stoker.server.window.GroupOrder;
import dev.stoker.server.window.ServedStream;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A group of trainers that share one pass over a stream. The first subscriber fixes the order spec; a trainer that
 * disconnects without subscribing does not. Thread-safe.
 *
 * <p>A group outlives its trainers. Its order and its places stay, so that a paused training finds both unchanged.
 */
public final class Group {
    /** Trainers beyond this number are served, but not shown in the status. */
    private static final int MAX_WATCHED = 4096;
    /** Ranks and workers may be in two adjacent epochs. */
    private static final int ORDERS_KEPT = 2;

    private final String stream;
    private final String name;
    private final Places places;
    /** The spec of all its trainers; null if the group has no trainer and nobody has subscribed. */
    private @Nullable OrderSpec spec;
    /**
     * The order of each epoch if each epoch has a separate version, else a single order with key 0. Strong references,
     * because sessions come and go.
     */
    private final NavigableMap<Long, GroupOrder> orders = new TreeMap<>();

    private boolean fixed;
    /** The fixed spec; null until other nodes are told. */
    private @Nullable String json;

    private int sessions;
    /** The trainers of the newest run. */
    private final Map<MemberId, SessionWatch> watches = new HashMap<>();

    private long watchedRun;

    public Group(String stream, String name) {
        this.stream = stream;
        this.name = name;
        this.places = new Places("group " + name + " of stream " + stream);
    }

    /** The result of joining. The caller must end the displaced sessions. */
    public record Joined(GroupOrder order, Identity identity, List<Occupant> displaced) {}

    /** Finds the order of a spec at a version. Returns the same object for the same spec. */
    public interface Orders {
        GroupOrder of(OrderSpec spec) throws ProtocolException;

        OrderSpec defaults();
    }

    /**
     * Admits a session.
     *
     * @param epoch the epoch that is read at the version of these orders, or 0 for all epochs
     * @throws ProtocolException if the order spec does not fit, or the session gets no place
     */
    public synchronized Joined join(
            Hello hello, TokenRights rights, Occupant session, Orders at, long epoch, long nowMs)
            throws ProtocolException {
        GroupOrder joined = order(hello, at, Optional.ofNullable(spec));
        Places.Given given = places.admit(Claim.of(hello, rights), session, nowMs);
        spec = joined.spec();
        keep(epoch, joined);
        sessions++;
        return new Joined(joined, identity(stream, hello, given.run()), given.displaced());
    }

    /**
     * Rejects a session that would get no place at present. Changes nothing.
     *
     * @throws ProtocolException as {@link #join} does
     */
    public synchronized void check(Hello hello, TokenRights rights) throws ProtocolException {
        places.check(Claim.of(hello, rights));
    }

    /**
     * Returns the order that a session would get. Changes nothing.
     *
     * @throws ProtocolException if its order spec does not fit
     */
    public synchronized GroupOrder look(Hello hello, Orders at) throws ProtocolException {
        return order(hello, at, fixed ? Optional.ofNullable(spec) : Optional.empty());
    }

    private GroupOrder order(Hello hello, Orders at, Optional<OrderSpec> known) throws ProtocolException {
        GroupOrder order = at.of(known.orElseGet(() -> hello.order().over(at.defaults())));
        List<OrderOverlay.Difference> differences = hello.order().differences(order.spec());
        if (!differences.isEmpty()) {
            String list =
                    differences.stream().map(OrderOverlay.Difference::toString).collect(Collectors.joining("; "));
            throw new ProtocolException(
                    ErrorCode.ORDER_MISMATCH,
                    "the order of group " + name + " of stream " + stream + " was fixed by its first subscriber: "
                            + list + "; request the same order, or use another group");
        }
        return order;
    }

    /** Returns the identity of a session in a run. */
    public static Identity identity(String stream, Hello hello, long run) {
        return new Identity(
                stream,
                hello.group(),
                run,
                hello.participant().rank(),
                hello.participant().worldSize(),
                hello.participant().worker(),
                hello.participant().workers(),
                hello.replica());
    }

    private void keep(long epoch, GroupOrder order) {
        orders.put(epoch, order);
        if (orders.size() > ORDERS_KEPT) {
            orders.remove(orders.firstKey() == epoch ? orders.lastKey() : orders.firstKey());
        }
    }

    /** Returns the statistics of a trainer that has joined. All its connections within a run share them. */
    public synchronized SessionWatch watch(Hello hello, Identity identity) {
        if (identity.run() > watchedRun) {
            watchedRun = identity.run();
            watches.clear();
        }
        SessionWatch known = watches.get(seat(hello));
        if (known != null && known.identity().equals(identity)) {
            return known;
        }
        SessionWatch watch = new SessionWatch(identity, hello.client());
        if (identity.run() == watchedRun && watches.size() < MAX_WATCHED) {
            watches.put(seat(hello), watch);
        }
        return watch;
    }

    /** Returns the status of the group; empty before a trainer has joined. */
    public synchronized Optional<FeedStatus.Group> status(OptionalLong epochs) {
        if (orders.isEmpty() || watches.isEmpty()) {
            return Optional.empty();
        }
        List<FeedStatus.Rank> ranks = watches.values().stream()
                .map(SessionWatch::status)
                .sorted(Comparator.comparingInt(FeedStatus.Rank::rank)
                        .thenComparingInt(FeedStatus.Rank::worker)
                        .thenComparingInt(FeedStatus.Rank::replica))
                .toList();
        long epoch = ranks.stream().mapToLong(FeedStatus.Rank::epoch).max().orElse(0);
        Map.Entry<Long, GroupOrder> current = orders.floorEntry(epoch);
        GroupOrder order = (current == null ? orders.firstEntry() : current).getValue();
        ServedStream served = order.stream();
        EpochSize size = order.order().size();
        long next = ranks.stream()
                .filter(rank -> rank.epoch() == epoch)
                .mapToLong(FeedStatus.Rank::next)
                .max()
                .orElse(0);
        return Optional.of(new FeedStatus.Group(
                stream,
                served.datasetName(),
                served.version(),
                served.split(),
                name,
                watchedRun,
                watches.values().iterator().next().identity().worldSize(),
                epoch,
                Math.min(next, size.batches()),
                size.batches(),
                size.samples(),
                epochs,
                ranks));
    }

    /** Returns whether an explicit run would take a place from a live session. */
    public synchronized boolean isDisplacing(Hello hello, TokenRights rights) {
        return places.isDisplacing(Claim.of(hello, rights));
    }

    private static MemberId seat(Hello hello) {
        return new MemberId(hello.participant().rank(), hello.participant().worker(), hello.replica());
    }

    /**
     * Settles a session that has subscribed. From the first subscription on, the order is fixed.
     *
     * @throws ProtocolException if there are too many places
     */
    public synchronized void settle(Hello hello, TokenRights rights, Occupant session) throws ProtocolException {
        places.settle(Claim.of(hello, rights), session);
        fixed = true;
    }

    /** Frees the place of a session that had joined and has ended. */
    public synchronized void leave(Hello hello, Occupant session) {
        places.leave(seat(hello), session);
        sessions--;
        if (sessions == 0 && !fixed) {
            spec = null;
            orders.clear();
        }
    }

    /** Returns whether the group must be remembered after its sessions have left. */
    synchronized boolean isFixed() {
        return fixed;
    }

    /** Drops the state that only active trainers need: the orders and the statistics of each trainer. */
    synchronized void slim() {
        orders.clear();
        watches.clear();
    }

    /** Returns the number of places that the group remembers. */
    synchronized int places() {
        return places.size();
    }

    /** Returns what other nodes should know; empty before the first subscription. */
    public synchronized Optional<GroupFacts> facts() {
        if (!fixed) {
            return Optional.empty();
        }
        if (json == null) {
            json = Objects.requireNonNull(spec, "its order is fixed").toJson();
        }
        return Optional.of(new GroupFacts(stream, name, json, places.settledRun(), places.settledWorldSize()));
    }

    /** Takes over what another node knows. An order that is fixed here stays. */
    public synchronized void learn(GroupFacts facts) {
        if (!fixed && sessions == 0) {
            spec = OrderSpec.fromJson(facts.order());
            fixed = true;
        }
        places.learn(facts.run(), facts.worldSize());
    }
}

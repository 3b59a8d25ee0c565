package dev.stoker.server.session.group;

import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.GroupFacts;
import dev.stoker.server.session.group.Membership.Occupant;
import dev.stoker.server.session.group.Places.Claim;
import dev.stoker.server.session.group.StreamOrders.AtVersion;
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
    private final Map<Claim.Seat, SessionWatch> watches = new HashMap<>();

    private long watchedRun;

    Group(String stream, String name) {
        this.stream = stream;
        this.name = name;
        this.places = new Places("group " + name + " of stream " + stream);
    }

    /**
     * Admits a session.
     *
     * @param displaced receives the sessions that lose their places to it, which the caller must end
     * @throws ProtocolException if the order spec does not fit, or the session gets no place
     */
    synchronized Membership join(
            Admission admission, Claim claim, Occupant session, AtVersion at, long nowMs, List<Occupant> displaced)
            throws ProtocolException {
        GroupOrder joined = order(admission.hello(), at, Optional.ofNullable(spec));
        Places.Given given = places.admit(claim, session, nowMs);
        displaced.addAll(given.displaced());
        spec = joined.spec();
        keep(at.only().orElse(0), joined);
        sessions++;
        SessionWatch watch = watch(claim, new SessionWatch(admission.identity(given.run()), claim.client()));
        return new Membership(admission, joined, watch, at.only(), new Membership.Place(this, claim, session));
    }

    /**
     * Rejects a session that would get no place at present. Changes nothing.
     *
     * @throws ProtocolException as {@link #join} does
     */
    synchronized void check(Claim claim) throws ProtocolException {
        places.check(claim);
    }

    /**
     * Returns the order that a session would get. Changes nothing.
     *
     * @throws ProtocolException if its order spec does not fit
     */
    synchronized GroupOrder look(Hello hello, AtVersion at) throws ProtocolException {
        return order(hello, at, fixed ? Optional.ofNullable(spec) : Optional.empty());
    }

    private GroupOrder order(Hello hello, AtVersion at, Optional<OrderSpec> known) throws ProtocolException {
        GroupOrder order = at.of(known.orElseGet(() -> hello.pass().order().over(at.defaults())));
        List<OrderOverlay.Difference> differences = hello.pass().order().differences(order.spec());
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

    private void keep(long epoch, GroupOrder order) {
        orders.put(epoch, order);
        if (orders.size() > ORDERS_KEPT) {
            orders.remove(orders.firstKey() == epoch ? orders.lastKey() : orders.firstKey());
        }
    }

    /** Returns the statistics of a trainer that has joined. All its connections within a run share them. */
    private SessionWatch watch(Claim claim, SessionWatch first) {
        long run = first.identity().run();
        if (run > watchedRun) {
            watchedRun = run;
            watches.clear();
        }
        SessionWatch known = watches.get(claim.seat());
        if (known != null && known.identity().equals(first.identity())) {
            return known;
        }
        if (run == watchedRun && watches.size() < MAX_WATCHED) {
            watches.put(claim.seat(), first);
        }
        return first;
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
    synchronized boolean isDisplacing(Claim claim) {
        return places.isDisplacing(claim);
    }

    /**
     * Settles a session that has subscribed. From the first subscription on, the order is fixed.
     *
     * @throws ProtocolException if there are too many places
     */
    synchronized void settle(Claim claim, Occupant session) throws ProtocolException {
        places.settle(claim, session);
        fixed = true;
    }

    /** Frees the place of a session that had joined and has ended. */
    synchronized void leave(Claim claim, Occupant session) {
        places.leave(claim.seat(), session);
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

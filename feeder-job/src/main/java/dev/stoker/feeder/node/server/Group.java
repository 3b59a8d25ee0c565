package dev.stoker.feeder.node.server;

import dev.stoker.feeder.node.FeedStatus;
import dev.stoker.feeder.node.GroupFacts;
import dev.stoker.feeder.node.Identity;
import dev.stoker.feeder.node.window.GroupOrder;
import dev.stoker.feeder.node.window.ServedStream;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.protocol.ErrorCode;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ProtocolException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Trainers that share one pass over a stream. The first subscriber fixes the order spec; a trainer that only said hello and
 * left does not. Thread-safe.
 */
final class Group {
    /** Trainers beyond this are served, but not watched. */
    private static final int MAX_WATCHED = 4096;
    /** Ranks and workers may stand on two neighbouring epochs. */
    private static final int ORDERS_KEPT = 2;

    private final String stream;
    private final String name;
    private final Fences fences;
    /** Of all its trainers; null while there is none and none has subscribed. */
    private OrderSpec spec;
    /** By epoch where each has a version of its own, else by 0. Held, as sessions come and go. */
    private final NavigableMap<Long, GroupOrder> orders = new TreeMap<>();

    private boolean fixed;
    private int sessions;
    /** Of the newest run. */
    private final Map<Seat, SessionWatch> watches = new HashMap<>();

    private long watchedRun;

    Group(String stream, String name) {
        this.stream = stream;
        this.name = name;
        this.fences = new Fences("group " + name + " of stream " + stream);
    }

    /** What a trainer gets when it joins; the displaced session, if any, is to be ended. */
    record Joined(GroupOrder order, Identity identity, Optional<Session> displaced) {}

    /** Finds the order of a spec at some version; the same object for the same spec. */
    interface Orders {
        GroupOrder of(OrderSpec spec) throws ProtocolException;

        OrderSpec defaults();
    }

    /**
     * Admits a session.
     *
     * @param epoch what is read at these orders' version: an epoch, 0 for all of them, empty for who only looks
     * @throws ProtocolException if the order spec does not fit, the run is fenced, or the world size is another
     */
    synchronized Joined join(Hello hello, Session session, Orders at, OptionalLong epoch, long nowMs)
            throws ProtocolException {
        GroupOrder joined = at.of(spec == null ? hello.order().over(at.defaults()) : spec);
        List<OrderOverlay.Difference> differences = hello.order().differences(joined.spec());
        if (!differences.isEmpty()) {
            String list =
                    differences.stream().map(OrderOverlay.Difference::toString).collect(Collectors.joining("; "));
            throw new ProtocolException(
                    ErrorCode.ORDER_MISMATCH,
                    "the order of group " + name + " of stream " + stream + " was fixed by its first subscriber: "
                            + list + "; ask for the same, or name another group");
        }
        Seat seat = seat(hello);
        long run = fences.admit(seat, hello.run(), hello.participant().worldSize(), nowMs);
        spec = joined.spec();
        epoch.ifPresent(of -> keep(of, joined));
        sessions++;
        Identity identity = new Identity(
                stream,
                name,
                run,
                hello.participant().rank(),
                hello.participant().worldSize(),
                hello.participant().worker(),
                hello.participant().workers(),
                hello.replica());
        return new Joined(joined, identity, Optional.ofNullable(fences.seat(seat, session)));
    }

    private void keep(long epoch, GroupOrder order) {
        orders.put(epoch, order);
        if (orders.size() > ORDERS_KEPT) {
            orders.remove(orders.firstKey() == epoch ? orders.lastKey() : orders.firstKey());
        }
    }

    /** What is watched of a trainer that has joined; the same over all its connections within a run. */
    synchronized SessionWatch watch(Hello hello, Identity identity) {
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

    /** How the group stands; empty before a trainer has come. */
    synchronized Optional<FeedStatus.Group> status(OptionalLong epochs) {
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

    /** Whether an explicit run would take a place from a session that is there. */
    synchronized boolean isDisplacing(Hello hello) {
        return fences.isDisplacing(seat(hello), hello.run());
    }

    private static Seat seat(Hello hello) {
        return new Seat(hello.participant().rank(), hello.participant().worker(), hello.replica());
    }

    /** From the first subscription on the order stays. */
    synchronized void fix() {
        fixed = true;
    }

    /** A session that had joined has ended. */
    synchronized void leave(Hello hello, Session session) {
        fences.leave(seat(hello), session);
        sessions--;
        if (sessions == 0 && !fixed) {
            spec = null;
            orders.clear();
        }
    }

    /** What other nodes should know; empty before the first subscription. */
    synchronized Optional<GroupFacts> facts() {
        return fixed
                ? Optional.of(new GroupFacts(stream, name, spec.toJson(), fences.run(), fences.worldSize()))
                : Optional.empty();
    }

    /** Takes over what another node knows. An order that is fixed here stays. */
    synchronized void learn(GroupFacts facts) {
        if (!fixed && sessions == 0) {
            spec = OrderSpec.fromJson(facts.order());
            fixed = true;
        }
        fences.learn(facts.run(), facts.worldSize());
    }
}

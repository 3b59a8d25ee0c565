package dev.stoker.feeder.node.server;

import dev.stoker.feeder.node.FeedStatus;
import dev.stoker.feeder.node.GroupFacts;
import dev.stoker.feeder.node.window.GroupOrder;
import dev.stoker.feeder.node.window.Healer;
import dev.stoker.feeder.node.window.ServedStream;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.protocol.ErrorCode;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.ProtocolException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A stream of the feed, with its groups and their orders. Thread-safe. */
final class StreamState {
    /** Groups beyond this are refused, so that made-up names cannot fill the memory. */
    private static final int MAX_GROUPS = 256;

    private static final Logger LOG = LoggerFactory.getLogger(StreamState.class);

    private final StreamOrders orders;
    private final ServedStream stream;
    private final OrderSpec defaults;
    private final Healer healer;
    private final Map<String, Group> groups = new HashMap<>();
    private GroupOrder defaultOrder;
    private LaneMap laneMap;

    StreamState(StreamOrders orders, OrderSpec defaults, Healer healer, LaneMap first) {
        this.orders = orders;
        this.stream = orders.first();
        this.defaults = defaults;
        this.healer = healer;
        // Every lane here, until the enumerator says otherwise.
        this.laneMap = first;
    }

    /** The stream as it was when the feed started. */
    ServedStream stream() {
        return stream;
    }

    /** Whether each epoch has a version of its own. */
    boolean follows() {
        return orders.follows();
    }

    Healer healer() {
        return healer;
    }

    /** The order of trainers that ask for no other. */
    GroupOrder defaultOrder() {
        return defaultOrder;
    }

    /** Makes the default order at once, so that the first trainer need not wait for it. */
    void prepare() throws ProtocolException {
        defaultOrder = of(defaults, stream.version());
        LOG.info(
                "Stream {}: {} samples in {} batches, {} lanes, fingerprint {}{}",
                stream.name(),
                defaultOrder.order().size().samples(),
                defaultOrder.order().size().batches(),
                defaultOrder.order().lanes(),
                defaultOrder.fingerprint(),
                follows() ? ", following its dataset" : "");
    }

    synchronized Group group(String name) throws ProtocolException {
        Group group = groups.get(name);
        if (group == null) {
            if (groups.size() >= MAX_GROUPS) {
                throw new ProtocolException(
                        ErrorCode.INTERNAL, "stream " + stream.name() + " has " + MAX_GROUPS + " groups already");
            }
            group = new Group(stream.name(), name);
            groups.put(name, group);
        }
        return group;
    }

    private GroupOrder of(OrderSpec spec, long version) throws ProtocolException {
        int others;
        synchronized (this) {
            others = groups.size();
        }
        return orders.of(spec, version, others);
    }

    /**
     * The version that a trainer's epoch has, opened; where the stream is pinned, that one. Who names no epoch looks at the newest.
     *
     * @throws ProtocolException if the trainer's state is of another version, or none can be chosen
     */
    long version(Hello hello) throws ProtocolException {
        if (!follows()) {
            return stream.version();
        }
        long version = hello.epoch().isPresent()
                ? orders.choose(hello.group(), hello.epoch().getAsLong(), hello.version())
                : orders.newest();
        orders.open(version);
        return version;
    }

    /**
     * The order of an epoch that was begun before, for receipts that come late.
     *
     * @throws ProtocolException if it was not begun, or cannot be opened
     */
    GroupOrder begun(String group, long epoch, OrderSpec spec) throws ProtocolException {
        return of(spec, orders.chosen(group, epoch));
    }

    /** The orders at a version. */
    Group.Orders at(long version) {
        return new Group.Orders() {
            @Override
            public GroupOrder of(OrderSpec spec) throws ProtocolException {
                return StreamState.this.of(spec, version);
            }

            @Override
            public OrderSpec defaults() {
                return defaults;
            }
        };
    }

    List<GroupFacts> facts() {
        List<Group> all;
        synchronized (this) {
            all = new ArrayList<>(groups.values());
        }
        List<GroupFacts> facts = new ArrayList<>();
        all.forEach(group -> group.facts().ifPresent(facts::add));
        return facts;
    }

    /** How its groups stand. */
    List<FeedStatus.Group> status(OptionalLong epochs) {
        List<Group> all;
        synchronized (this) {
            all = new ArrayList<>(groups.values());
        }
        return all.stream()
                .flatMap(group -> group.status(epochs).stream())
                .sorted(Comparator.comparing(FeedStatus.Group::name))
                .toList();
    }

    synchronized LaneMap laneMap() {
        return laneMap;
    }

    /** Whether the map is newer than the present one, which it then replaces. */
    synchronized boolean update(LaneMap map) {
        if (map.compareTo(laneMap) <= 0) {
            return false;
        }
        laneMap = map;
        return true;
    }
}

package dev.stoker.feeder.node.server;

import dev.stoker.feeder.node.FeedStatus;
import dev.stoker.feeder.node.GroupFacts;
import dev.stoker.feeder.node.LaneMap;
import dev.stoker.feeder.node.window.GroupOrder;
import dev.stoker.feeder.node.window.Healer;
import dev.stoker.feeder.node.window.ServedStream;
import dev.stoker.feeder.node.window.WorkingMemory;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.protocol.ErrorCode;
import dev.stoker.schemas.protocol.ProtocolException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A stream of the feed, with its groups and their orders. Thread-safe. */
final class StreamState implements Group.Orders {
    /** Groups beyond this are refused, so that made-up names cannot fill the memory. */
    private static final int MAX_GROUPS = 256;

    private static final Logger LOG = LoggerFactory.getLogger(StreamState.class);

    private final ServedStream stream;
    private final OrderSpec defaults;
    private final Healer healer;
    private final WorkingMemory memory;
    /** Groups keep the orders they use; others may go. */
    private final Map<OrderSpec, WeakReference<GroupOrder>> orders = new HashMap<>();

    private final Map<String, Group> groups = new HashMap<>();
    private GroupOrder defaultOrder;
    private LaneMap laneMap;

    StreamState(ServedStream stream, OrderSpec defaults, Healer healer, WorkingMemory memory, LaneMap first) {
        this.stream = stream;
        this.defaults = defaults;
        this.healer = healer;
        this.memory = memory;
        // Every lane here, until the enumerator says otherwise.
        this.laneMap = first;
    }

    ServedStream stream() {
        return stream;
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
        defaultOrder = of(defaults);
        LOG.info(
                "Stream {}: {} samples in {} batches, {} lanes, fingerprint {}",
                stream.name(),
                defaultOrder.order().size().samples(),
                defaultOrder.order().size().batches(),
                defaultOrder.order().lanes(),
                defaultOrder.fingerprint());
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

    @Override
    public synchronized GroupOrder of(OrderSpec spec) throws ProtocolException {
        WeakReference<GroupOrder> known = orders.get(spec);
        GroupOrder order = known == null ? null : known.get();
        if (order == null) {
            order = new GroupOrder(stream, spec);
            memory.require(order, groups.size());
            orders.values().removeIf(reference -> reference.refersTo(null));
            orders.put(spec, new WeakReference<>(order));
        }
        return order;
    }

    @Override
    public OrderSpec defaults() {
        return defaults;
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
                .flatMap(group -> group.status(stream, epochs).stream())
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

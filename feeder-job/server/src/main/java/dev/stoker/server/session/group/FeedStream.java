package dev.stoker.server.session.group;

import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.GroupFacts;
import dev.stoker.server.window.DamageCheck;
import dev.stoker.server.window.GroupOrder;
import dev.stoker.server.window.PieceBuilder;
import dev.stoker.server.window.ServedStream;
import dev.stoker.server.window.Windows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A stream of the feed, with its groups and their orders. Thread-safe. */
public final class FeedStream {
    private static final Logger LOG = LoggerFactory.getLogger(FeedStream.class);

    private final FeedSpec feed;
    private final StreamOrders orders;
    private final ServedStream stream;
    private final DamageCheck damageCheck;
    private final Groups groups;
    private @Nullable GroupOrder defaultOrder;
    /** Address of this server. */
    private final String address;

    private LaneMap laneMap;

    /** @param everything the lane map in which this server has every lane */
    public FeedStream(FeedSpec feed, StreamOrders orders, Groups groups, DamageCheck damageCheck, LaneMap everything) {
        this.feed = feed;
        this.orders = orders;
        this.stream = orders.first();
        this.damageCheck = damageCheck;
        this.groups = groups;
        // This server has every lane until the enumerator sends another map.
        this.laneMap = everything;
        this.address = everything.addresses().get(0);
    }

    /** Returns the stream in the state at the start of the feed. */
    public ServedStream stream() {
        return stream;
    }

    /** Returns whether each epoch has a separate version. */
    public boolean follows() {
        return orders.follows();
    }

    /** Returns the order of trainers that do not ask for another one. */
    public GroupOrder defaultOrder() {
        return Objects.requireNonNull(defaultOrder, "prepare() sets it");
    }

    /** Creates the default order in advance, so that the first trainer need not wait for it. */
    public void prepare() throws ProtocolException {
        defaultOrder = orders.defaultOrder();
        LOG.info(
                "Stream {}: {} samples in {} batches, {} lanes, fingerprint {}{}",
                stream.name(),
                defaultOrder.order().size().samples(),
                defaultOrder.order().size().batches(),
                defaultOrder.order().lanes(),
                defaultOrder.fingerprint(),
                follows() ? ", following its dataset" : "");
    }

    /** Returns the feed of the stream. */
    FeedSpec feed() {
        return feed;
    }

    StreamOrders orders() {
        return orders;
    }

    public Groups groups() {
        return groups;
    }

    /**
     * Returns a builder of the pieces of a session.
     *
     * @param only the epoch that alone is of this order, if there is but one
     */
    PieceBuilder builder(GroupOrder order, Windows windows, OptionalLong only) {
        OptionalLong epochs = only.isPresent() ? OptionalLong.of(only.getAsLong() + 1) : feed.epochs();
        return new PieceBuilder(order, windows, damageCheck, epochs, feed.tag());
    }

    /** Returns what other nodes should know of the groups. */
    public List<GroupFacts> facts() {
        List<GroupFacts> facts = new ArrayList<>();
        groups.shown().forEach(group -> group.facts().ifPresent(facts::add));
        return facts;
    }

    /** Returns the status of its groups. */
    public List<FeedStatus.Group> status() {
        return groups.shown().stream()
                .flatMap(group -> group.status(feed.epochs()).stream())
                .sorted(Comparator.comparing(FeedStatus.Group::name))
                .toList();
    }

    public synchronized LaneMap laneMap() {
        return laneMap;
    }

    /** Returns whether a lane map gives a lane to this server. */
    public boolean isHere(LaneMap map, int lane) {
        return map.gives(lane, address);
    }

    /** Replaces the lane map if this one is newer. Returns whether it was. */
    public synchronized boolean update(LaneMap map) {
        if (map.compareTo(laneMap) <= 0) {
            return false;
        }
        laneMap = map;
        return true;
    }
}

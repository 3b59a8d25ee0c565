package dev.stoker.server.session.group;

import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.parts.FieldInfo;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.GroupFacts;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.window.DamageCheck;
import dev.stoker.server.window.GroupOrder;
import dev.stoker.server.window.ServedStream;
import java.util.ArrayList;
import java.util.Arrays;
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

    private final StreamOrders orders;
    private final ServedStream stream;
    private final OrderSpec defaults;
    private final DamageCheck damageCheck;
    private final Groups groups;
    private @Nullable GroupOrder defaultOrder;
    private LaneMap laneMap;

    public FeedStream(StreamOrders orders, OrderSpec defaults, DamageCheck damageCheck, LaneMap first) {
        this.orders = orders;
        this.stream = orders.first();
        this.defaults = defaults;
        this.damageCheck = damageCheck;
        this.groups = new Groups(stream.name());
        // This server has every lane until the enumerator sends another map.
        this.laneMap = first;
    }

    /** Returns the stream in the state at the start of the feed. */
    public ServedStream stream() {
        return stream;
    }

    /** Returns whether each epoch has a separate version. */
    public boolean follows() {
        return orders.follows();
    }

    public DamageCheck damageCheck() {
        return damageCheck;
    }

    /** Returns the order of trainers that do not ask for another one. */
    public GroupOrder defaultOrder() {
        return Objects.requireNonNull(defaultOrder, "prepare() sets it");
    }

    /** Creates the default order in advance, so that the first trainer need not wait for it. */
    public void prepare() throws ProtocolException {
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

    public Groups groups() {
        return groups;
    }

    private GroupOrder of(OrderSpec spec, long version) throws ProtocolException {
        return orders.of(spec, version, groups.open());
    }

    /**
     * Returns the order that a trainer would get. Creates no group and chooses no version.
     *
     * @throws ProtocolException if its order spec does not fit the group's
     */
    public GroupOrder look(Hello hello) throws ProtocolException {
        long version = stream.version();
        if (follows()) {
            version = orders.look(hello.group(), hello.epoch(), hello.version());
            orders.open(version);
        }
        Group group = groups.find(hello.group()).orElseGet(() -> new Group(stream.name(), hello.group()));
        return group.look(hello, at(version));
    }

    /**
     * Describes a version of the stream.
     *
     * @param session the number of the session
     */
    public Welcome welcome(FeedSpec feed, GroupOrder order, Identity identity, long session) {
        ServedStream version = order.stream();
        return new Welcome(
                new Welcome.FeedName(feed.id(), feed.name()),
                new Welcome.StreamName(
                        version.name(), version.dataset(), version.datasetName(), version.version(), version.split()),
                order.fingerprint(),
                order.spec(),
                version.fields().stream()
                        .map(field -> new FieldInfo(
                                field.name(), field.type().canonical(), field.nullable(), field.payload()))
                        .toList(),
                version.classes().names(),
                Arrays.stream(order.order().laneRows()).boxed().toList(),
                order.order().size().samples(),
                order.largestBatchBytes(),
                feed.epochs(),
                identity.run(),
                session,
                laneMap().forLanes(order.order().lanes()));
    }

    /** Returns the epoch that a looking trainer names, if its version is chosen already. */
    public OptionalLong begun(Hello hello) throws ProtocolException {
        return follows()
                        && hello.epoch().isPresent()
                        && orders.isChosen(hello.group(), hello.epoch().getAsLong())
                ? hello.epoch()
                : OptionalLong.empty();
    }

    /**
     * Opens the version of a trainer's epoch, or the only version of a stream that does not follow its dataset.
     *
     * @throws ProtocolException if the trainer's state has another version, or none can be chosen
     */
    public long version(Hello hello) throws ProtocolException {
        if (!follows()) {
            return stream.version();
        }
        long version = orders.choose(hello.group(), hello.epoch().orElseThrow(), hello.version());
        orders.open(version);
        return version;
    }

    /**
     * Returns the order of an epoch that was started before, for late receipts.
     *
     * @throws ProtocolException if the epoch was not started, or cannot be opened
     */
    public GroupOrder begun(String group, long epoch, OrderSpec spec) throws ProtocolException {
        return of(spec, orders.chosen(group, epoch));
    }

    /** Returns the orders at a version. */
    public Group.Orders at(long version) {
        return new Group.Orders() {
            @Override
            public GroupOrder of(OrderSpec spec) throws ProtocolException {
                return FeedStream.this.of(spec, version);
            }

            @Override
            public OrderSpec defaults() {
                return defaults;
            }
        };
    }

    /** Returns what other nodes should know of the groups. */
    public List<GroupFacts> facts() {
        List<GroupFacts> facts = new ArrayList<>();
        groups.shown().forEach(group -> group.facts().ifPresent(facts::add));
        return facts;
    }

    /** Returns the status of its groups. */
    public List<FeedStatus.Group> status(OptionalLong epochs) {
        return groups.shown().stream()
                .flatMap(group -> group.status(epochs).stream())
                .sorted(Comparator.comparing(FeedStatus.Group::name))
                .toList();
    }

    public synchronized LaneMap laneMap() {
        return laneMap;
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

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
import dev.stoker.server.window.DamageCheck;
import dev.stoker.server.window.GroupOrder;
import dev.stoker.server.window.PieceBuilder;
import dev.stoker.server.window.ServedStream;
import dev.stoker.server.window.Windows;
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

    private final FeedSpec feed;
    private final StreamOrders orders;
    private final ServedStream stream;
    private final OrderSpec defaults;
    private final DamageCheck damageCheck;
    private final Groups groups;
    private @Nullable GroupOrder defaultOrder;
    /** Address of this server. */
    private final String address;

    private LaneMap laneMap;

    /**
     * @param defaults the order of trainers that do not ask for another one
     * @param everything the lane map in which this server has every lane
     */
    public FeedStream(
            FeedSpec feed, StreamOrders orders, OrderSpec defaults, DamageCheck damageCheck, LaneMap everything) {
        this.feed = feed;
        this.orders = orders;
        this.stream = orders.first();
        this.defaults = defaults;
        this.damageCheck = damageCheck;
        this.groups = new Groups(stream.name());
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
    GroupOrder look(Hello hello) throws ProtocolException {
        long version = stream.version();
        if (follows()) {
            version = orders.look(
                    hello.pass().group(),
                    hello.reading().epoch(),
                    hello.reading().version());
            orders.open(version);
        }
        Group group = groups.find(hello.pass().group())
                .orElseGet(() -> new Group(stream.name(), hello.pass().group()));
        return group.look(hello, at(version, OptionalLong.empty()));
    }

    /**
     * Describes a version of the stream.
     *
     * @param run of the trainer
     * @param session the number of the session
     */
    Welcome welcome(GroupOrder order, long run, long session) {
        ServedStream version = order.stream();
        return new Welcome(
                new Welcome.FeedName(feed.id(), feed.name()),
                new Welcome.StreamName(
                        version.name(), version.dataset(), version.datasetName(), version.version(), version.split()),
                new Welcome.StreamColumns(
                        version.fields().stream()
                                .map(field -> new FieldInfo(
                                        field.name(), field.type().canonical(), field.nullable(), field.payload()))
                                .toList(),
                        version.classes().names()),
                new Welcome.PassInfo(
                        order.fingerprint(),
                        order.spec(),
                        Arrays.stream(order.order().laneRows()).boxed().toList(),
                        order.order().size().samples(),
                        order.largestBatchBytes(),
                        feed.epochs()),
                laneMap().forLanes(order.order().lanes()),
                new Welcome.SessionInfo(run, session));
    }

    /** Returns the epoch that a looking trainer names, if its version is chosen already. */
    OptionalLong begun(Hello hello) throws ProtocolException {
        return follows()
                        && hello.reading().epoch().isPresent()
                        && orders.isChosen(
                                hello.pass().group(), hello.reading().epoch().getAsLong())
                ? hello.reading().epoch()
                : OptionalLong.empty();
    }

    /**
     * Opens the version of a trainer's epoch, or the only version of a stream that does not follow its dataset, and
     * returns its orders.
     *
     * @throws ProtocolException if the trainer's state has another version, or none can be chosen
     */
    Group.Orders at(Hello hello) throws ProtocolException {
        if (!follows()) {
            return at(stream.version(), OptionalLong.empty());
        }
        long version = orders.choose(
                hello.pass().group(),
                hello.reading().epoch().orElseThrow(),
                hello.reading().version());
        orders.open(version);
        return at(version, hello.reading().epoch());
    }

    /**
     * Returns the order of an epoch that was started before, for late receipts.
     *
     * @throws ProtocolException if the epoch was not started, or cannot be opened
     */
    GroupOrder begun(String group, long epoch, OrderSpec spec) throws ProtocolException {
        return of(spec, orders.chosen(group, epoch));
    }

    private Group.Orders at(long version, OptionalLong only) {
        return new Group.Orders() {
            @Override
            public OptionalLong only() {
                return only;
            }

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

package dev.stoker.server.session.group;

import dev.stoker.metadata.UnknownSplitException;
import dev.stoker.metadata.UnknownVersionException;
import dev.stoker.metadata.follow.OtherVersionException;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.window.GroupOrder;
import dev.stoker.server.window.ServedStream;
import dev.stoker.server.window.StreamVersions;
import dev.stoker.server.window.WorkingMemory;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The orders of a stream, one for each spec and version in use, and the version of each epoch if the stream follows its
 * dataset. Thread-safe; only sessions that are being admitted wait for a store.
 */
public final class StreamOrders {
    private static final int VERSIONS_KEPT = 4;
    private static final int CHOICES_KEPT = 1024;

    private final ServedStream first;
    private final Optional<StreamVersions> versions;
    private final WorkingMemory memory;
    private final OrderSpec defaults;
    private final Groups groups;
    /** Its monitor is held while a new order is made. */
    private final Object making = new Object();
    /** Groups keep the orders that they use; others may be garbage-collected. Guarded by the monitor of this object. */
    private final Map<Key, WeakReference<GroupOrder>> orders = new HashMap<>();
    /** Guarded by the monitor of this object. */
    private final Map<Long, ServedStream> opened = recent(VERSIONS_KEPT);
    /** Guarded by the monitor of the map. */
    private final Map<Epoch, Long> choices = recent(CHOICES_KEPT);

    private record Key(OrderSpec spec, long version) {}

    private record Epoch(String group, long epoch) {}

    /**
     * The orders at one version, which a trainer may get.
     *
     * @param only the only epoch that is read at this version; empty for all epochs
     */
    record AtVersion(StreamOrders orders, long version, OptionalLong only) {
        /** Returns the order of a spec. Returns the same object for the same spec. */
        GroupOrder of(OrderSpec spec) throws ProtocolException {
            return orders.of(spec, version);
        }

        OrderSpec defaults() {
            return orders.defaults;
        }
    }

    /**
     * @param first the version with which the feed started, which is the only one if {@code versions} is empty
     * @param defaults the order of trainers that do not ask for another one
     * @param groups the groups of the stream, which share the memory
     */
    public StreamOrders(
            ServedStream first,
            Optional<StreamVersions> versions,
            WorkingMemory memory,
            OrderSpec defaults,
            Groups groups) {
        this.first = first;
        this.versions = versions;
        this.memory = memory;
        this.defaults = defaults;
        this.groups = groups;
    }

    private static <K, V> Map<K, V> recent(int most) {
        return new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > most;
            }
        };
    }

    public ServedStream first() {
        return first;
    }

    public boolean follows() {
        return versions.isPresent();
    }

    /** Returns the order of trainers that do not ask for another one, at the first version. */
    GroupOrder defaultOrder() throws ProtocolException {
        return of(defaults, first.version());
    }

    /**
     * Opens the version of a trainer's epoch, or the only version of a stream that does not follow its dataset, and
     * returns its orders.
     *
     * @throws ProtocolException if the trainer's state has another version, or none can be chosen
     */
    AtVersion at(Hello hello) throws ProtocolException {
        if (!follows()) {
            return new AtVersion(this, first.version(), OptionalLong.empty());
        }
        OptionalLong epoch = hello.reading().epoch();
        long version = choose(
                hello.pass().group(), epoch.orElseThrow(), hello.reading().version());
        open(version);
        return new AtVersion(this, version, epoch);
    }

    /**
     * Opens the version that a trainer would get if it started its epoch now, and returns its orders. Chooses nothing.
     *
     * @throws ProtocolException if the trainer's state has another version
     */
    AtVersion look(Hello hello) throws ProtocolException {
        long version = first.version();
        if (follows()) {
            version = look(
                    hello.pass().group(),
                    hello.reading().epoch(),
                    hello.reading().version());
            open(version);
        }
        return new AtVersion(this, version, OptionalLong.empty());
    }

    /** Returns the epoch that a looking trainer names, if its version is chosen already. */
    OptionalLong begun(Hello hello) throws ProtocolException {
        OptionalLong epoch = hello.reading().epoch();
        return follows() && epoch.isPresent() && isChosen(hello.pass().group(), epoch.getAsLong())
                ? epoch
                : OptionalLong.empty();
    }

    /**
     * Returns the order of an epoch that was started before, for late receipts.
     *
     * @throws ProtocolException if the epoch was not started, or cannot be opened
     */
    GroupOrder begun(String group, long epoch, OrderSpec spec) throws ProtocolException {
        return of(spec, chosen(group, epoch));
    }

    /**
     * Returns the order of a spec at a version. The same arguments give the same object.
     *
     * @throws ProtocolException if it does not fit into the working memory, or the version cannot be opened
     */
    private GroupOrder of(OrderSpec spec, long version) throws ProtocolException {
        Key key = new Key(spec, version);
        Optional<GroupOrder> known = known(key);
        if (known.isPresent()) {
            return known.get();
        }
        // A new condition is evaluated on all chunks. Sessions with known orders must not wait for that.
        synchronized (making) {
            Optional<GroupOrder> made = known(key);
            return made.isPresent() ? made.get() : keep(key, open(version, spec));
        }
    }

    private synchronized Optional<GroupOrder> known(Key key) {
        return Optional.ofNullable(orders.get(key)).map(WeakReference::get);
    }

    private synchronized GroupOrder keep(Key key, GroupOrder order) throws ProtocolException {
        memory.require(order, groups.open());
        orders.values().removeIf(reference -> reference.refersTo(null));
        orders.put(key, new WeakReference<>(order));
        return order;
    }

    private GroupOrder open(long version, OrderSpec spec) throws ProtocolException {
        ServedStream stream = open(version);
        try {
            return new GroupOrder(stream, spec);
        } catch (IllegalArgumentException e) {
            throw new ProtocolException(ErrorCode.ORDER_MISMATCH, "stream " + first.name() + ": " + e.getMessage());
        } catch (IOException e) {
            throw refusal(e);
        }
    }

    /** Returns a version, and opens it if necessary. */
    private synchronized ServedStream open(long version) throws ProtocolException {
        if (version == first.version()) {
            return first;
        }
        ServedStream stream = opened.get(version);
        if (stream == null) {
            try {
                stream = versions.orElseThrow().open(version);
            } catch (IOException e) {
                throw refusal(e);
            }
            opened.put(version, stream);
        }
        return stream;
    }

    /**
     * Returns the version of a group's epoch, and chooses one if there is no choice yet.
     *
     * @param wanted the version in the trainer's state
     * @throws ProtocolException if another version was chosen, or the choice cannot be read or made
     */
    private long choose(String group, long epoch, OptionalLong wanted) throws ProtocolException {
        OptionalLong known = known(group, epoch);
        if (known.isPresent() && (wanted.isEmpty() || wanted.getAsLong() == known.getAsLong())) {
            return known.getAsLong();
        }
        try {
            return keep(group, epoch, versions.orElseThrow().choose(group, epoch, wanted));
        } catch (IOException | IllegalArgumentException e) {
            throw refusal(e);
        }
    }

    /**
     * Returns the version that a trainer would get if it started an epoch now. Chooses nothing.
     *
     * @param wanted the version in the trainer's state
     * @throws ProtocolException if another version was chosen
     */
    private long look(String group, OptionalLong epoch, OptionalLong wanted) throws ProtocolException {
        OptionalLong version;
        try {
            OptionalLong chosen = epoch.isPresent() ? find(group, epoch.getAsLong()) : OptionalLong.empty();
            version = chosen.isPresent() ? chosen : wanted;
            if (version.isEmpty()) {
                version = OptionalLong.of(versions.orElseThrow().newest());
            }
        } catch (IOException e) {
            throw refusal(e);
        }
        if (wanted.isPresent() && wanted.getAsLong() != version.getAsLong()) {
            throw new ProtocolException(
                    ErrorCode.VERSION_MISMATCH,
                    "stream " + first.name() + ": epoch " + epoch.getAsLong() + " of group " + group
                            + " reads version " + version.getAsLong() + ", but the state has version "
                            + wanted.getAsLong());
        }
        return version.getAsLong();
    }

    /** Returns whether the version of an epoch is chosen. */
    private boolean isChosen(String group, long epoch) throws ProtocolException {
        try {
            return find(group, epoch).isPresent();
        } catch (IOException e) {
            throw refusal(e);
        }
    }

    private OptionalLong find(String group, long epoch) throws IOException {
        OptionalLong known = known(group, epoch);
        return known.isPresent() ? known : versions.orElseThrow().find(group, epoch);
    }

    /**
     * Returns the version of an epoch that was started before.
     *
     * @throws ProtocolException if the epoch was not started
     */
    private long chosen(String group, long epoch) throws ProtocolException {
        OptionalLong version;
        try {
            version = find(group, epoch);
        } catch (IOException e) {
            throw refusal(e);
        }
        if (version.isEmpty()) {
            throw new ProtocolException(
                    ErrorCode.BAD_FRAME, "epoch " + epoch + " of group " + group + " was never begun");
        }
        return keep(group, epoch, version.getAsLong());
    }

    private OptionalLong known(String group, long epoch) {
        synchronized (choices) {
            Long version = choices.get(new Epoch(group, epoch));
            return version == null ? OptionalLong.empty() : OptionalLong.of(version);
        }
    }

    private long keep(String group, long epoch, long version) {
        synchronized (choices) {
            choices.put(new Epoch(group, epoch), version);
        }
        return version;
    }

    private ProtocolException refusal(Exception e) {
        String message = "stream " + first.name() + ": " + e.getMessage();
        if (e instanceof OtherVersionException
                || e instanceof UnknownVersionException
                || e instanceof UnknownSplitException
                || e instanceof IllegalArgumentException) {
            return new ProtocolException(ErrorCode.VERSION_MISMATCH, message);
        }
        boolean damaged = e instanceof CorruptDataException
                || e instanceof ForeignFileException
                || e instanceof FormatTooNewException;
        return new ProtocolException(damaged ? ErrorCode.CORRUPT : ErrorCode.ORIGIN_UNAVAILABLE, message);
    }
}

package dev.stoker.client.feeder;

import dev.stoker.client.source.ReceivedPiece;
import dev.stoker.client.source.Span;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Subscribe;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What the client asks the feeders for: subscriptions, grants and receipts. Guarded by the client's lock.
 */
final class Subscriptions {
    /** The last request on a connection. */
    private record Subscribed(Span span, Set<Integer> lanes) {}

    private final Map<FeederConnection, Subscribed> subscribed = new LinkedHashMap<>();
    private final PendingReceipts receipts = new PendingReceipts();
    private final long ackNs;

    /** How many batches may be granted and not yet consumed. */
    private long depth = 2;
    /** Lanes of the stream. */
    private int lanes;
    /** The span that the trainer iterates over; null before the first epoch. */
    private @Nullable Span reading;
    /** The span that the trainer has announced as the next. */
    private @Nullable Span following;
    /** The span that the connections are subscribed to: one of the two above. */
    private @Nullable Span receiving;
    /**
     * A span without a number, until a feeder has it in the ledger that the trainer has no part in that epoch; null for
     * none.
     */
    private @Nullable Span emptyShare;
    /** What the client read first. Its position says that everything before was consumed. */
    private Span.@Nullable Range began;
    /** The greatest subscription number so far, over all connections. */
    private long newest;

    /** Greatest number of batches that are granted ahead: each takes memory besides its message. */
    private static final long MOST_BATCHES = 4096;

    Subscriptions(long ackNs) {
        this.ackNs = ackNs;
    }

    /** Notes the stream's size once it is known. */
    void size(long batches, int streamLanes) {
        depth = Math.max(2, Math.min(MOST_BATCHES, batches));
        lanes = streamLanes;
    }

    PendingReceipts receipts() {
        return receipts;
    }

    int lanes() {
        return lanes;
    }

    @Nullable
    Span reading() {
        return reading;
    }

    @Nullable
    Span receiving() {
        return receiving;
    }

    Optional<Span> following() {
        return Optional.ofNullable(following);
    }

    boolean wasGiven(long subscription) {
        return subscription > 0 && subscription <= newest;
    }

    /** Makes a span the one that the trainer reads. It can be the following span, which may already be arriving. */
    void begin(Span span, Collection<FeederConnection> live) {
        flush();
        began = began == null ? span.range() : began;
        reading = span;
        following = null;
        if (receiving == span) {
            grant(span.consumed);
        } else {
            receive(span, live);
        }
    }

    /** The trainer goes over to an epoch of which it has no number, and so has finished it: one feeder is told. */
    void beginEmpty(Span span, Collection<FeederConnection> live) {
        emptyShare = span;
        begin(span, live);
        live.forEach(connection -> settle(connection, connection.lanes));
    }

    /** Whether a feeder has yet to be told something that no connection carries. */
    boolean isUndelivered() {
        return receipts.hasOrphans() || isUntold();
    }

    /** Whether no feeder was told yet that the present span has no number. */
    private boolean isUntold() {
        return emptyShare != null
                && emptyShare == receiving
                && subscribed.values().stream().noneMatch(asked -> asked.span == emptyShare);
    }

    /** The span after the one being read; begun when that one is all here. */
    void expect(Span span, Collection<FeederConnection> live) {
        following = span;
        goOn(live);
    }

    /** Begins to receive the following span if the present one is complete. */
    void goOn(Collection<FeederConnection> live) {
        if (following != null && receiving != null && receiving != following && receiving.isReceived()) {
            receive(following, live);
        }
    }

    /** Stops asking for anything. */
    void end() {
        reading = null;
        following = null;
    }

    /** Abandons the epoch that was read. Its receipts are sent before the connections end. */
    void leave() {
        flush();
        end();
        receiving = null;
        emptyShare = null;
    }

    private void receive(Span span, Collection<FeederConnection> live) {
        receiving = span;
        if (!span.isReceived()) {
            for (FeederConnection connection : live) {
                if (!connection.lanes.isEmpty()) {
                    subscribe(connection);
                }
            }
        }
    }

    /** Assigns lanes to a connection, and subscribes to them if necessary. */
    void settle(FeederConnection connection, Set<Integer> mine) {
        connection.lanes = Set.copyOf(mine);
        Subscribed known = subscribed.get(connection);
        if (mine.isEmpty() || receiving == null) {
            return;
        }
        // A connection accepts the receipts of one that ended only after a subscription, even an empty one.
        boolean wanted = receiving.isReceived()
                ? isUntold() || (known == null && receipts.hasOrphans())
                : known == null || known.span != receiving || !known.lanes.equals(mine);
        if (wanted) {
            subscribe(connection);
        }
    }

    /** Subscribes to all lanes of the connection, from the first incomplete batch. */
    void subscribe(FeederConnection connection) {
        Span span = Objects.requireNonNull(receiving, "connections subscribe to a span");
        connection.subscription = ++newest;
        subscribed.put(connection, new Subscribed(span, connection.lanes));
        List<Integer> named =
                connection.lanes.size() == lanes ? List.of() : List.copyOf(new TreeSet<>(connection.lanes));
        Span.Range range = span.range();
        connection.send(new Subscribe(
                newest,
                range.epoch(),
                span.number(span.complete),
                range.stride(),
                range.count() - span.complete,
                range.tail(),
                named,
                span == emptyShare,
                begin(range)));
        if (span == emptyShare && !receipts.addEmpty(connection, range.epoch())) {
            emptyShare = null;
        }
        receipts.adopt(connection);
        span.granted = Math.max(span.granted, through(span));
        if (span.granted >= span.complete) {
            connection.send(new Grant(newest, span.number(span.granted)));
        }
    }

    /** The number at which the client began the epoch; none if it came from the epoch before. */
    private long begin(Span.Range range) {
        return began == null || began.epoch() != range.epoch()
                ? Subscribe.NONE
                : Math.min(began.first(), range.first());
    }

    /**
     * Notes that the feeder has {@code count} entries of this session in the ledger; false if it never got that many.
     */
    boolean durable(FeederConnection connection, long count) {
        if (!receipts.durable(connection, count)) {
            return false;
        }
        Subscribed known = subscribed.get(connection);
        if (known != null && known.span == emptyShare && connection.undurable.isEmpty()) {
            emptyShare = null;
        }
        return true;
    }

    /** The span being received, if the connection is subscribed to it. */
    Optional<Span> current(FeederConnection connection) {
        Subscribed known = subscribed.get(connection);
        return known != null && known.span == receiving ? Optional.of(known.span) : Optional.empty();
    }

    /** The connection has ended. */
    void forget(FeederConnection connection) {
        receipts.lost(connection);
        subscribed.remove(connection);
    }

    /** Notes that the trainer has consumed a batch: records its receipts and lets the feeders continue. */
    void acknowledge(Span span, long index, List<ReceivedPiece> pieces, long nowNs) {
        span.consumed = Math.max(span.consumed, index + 1);
        receipts.add(pieces, nowNs);
        if (span.consumed == span.range().count() || receipts.isDue(nowNs, ackNs)) {
            flush();
        }
        grant(span.consumed);
    }

    /** Grants the batch that the trainer waits for, even if the trainer still holds earlier batches. */
    void need(Span span, long index) {
        if (index > span.granted) {
            grant(index);
        }
    }

    /** Sends all receipts. */
    void flush() {
        receipts.flush();
        if (receipts.hasOrphans() && !subscribed.isEmpty()) {
            receipts.adopt(subscribed.keySet().iterator().next());
        }
    }

    /** Sends receipts that have waited long enough. */
    void flushDue(long nowNs) {
        if (receipts.hasOrphans() || receipts.isDue(nowNs, ackNs)) {
            flush();
        }
    }

    /** Whether batches or receipts are outstanding. */
    boolean isOpen() {
        return (receiving != null && !receiving.isReceived())
                || (reading != null && reading.consumed < reading.range().count())
                || isUntold()
                || receipts.isUnconfirmed();
    }

    /**
     * The index through which the feeders may send: the batches that the trainer holds and the waiting ones fit the
     * buffer.
     */
    private long through(Span span) {
        long room = depth;
        if (reading != null && reading != span) {
            room -= reading.range().count() - reading.consumed;
        }
        return Math.min(span.range().count(), span.consumed + room) - 1;
    }

    /** Raises the grant by a quarter of the depth at a time, so that not every batch costs a frame. */
    private void grant(long needed) {
        Span span = receiving;
        if (span == null) {
            return;
        }
        long last = span.range().count() - 1;
        long through = through(span);
        if (span == reading) {
            through = Math.max(through, Math.min(needed, last));
        }
        long gain = through - span.granted;
        if (gain <= 0 || (gain < depth / 4 && through < last && span.granted >= needed)) {
            return;
        }
        span.granted = through;
        long number = span.number(through);
        subscribed.forEach((connection, asked) -> {
            if (asked.span == span) {
                connection.send(new Grant(connection.subscription, number));
            }
        });
    }
}

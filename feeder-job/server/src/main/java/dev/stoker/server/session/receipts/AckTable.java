package dev.stoker.server.session.receipts;

import dev.stoker.server.feed.GroupName;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.feed.LedgerItem;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * Holds ledger items from the time a session receives them until they are durable.
 *
 * <p>The table is limited by the number of entries that are not durable. A trainer may occupy at most as much of the
 * table as it leaves free, so a trainer that floods the table harms only itself. If an item of a session does not fit,
 * the session loses the item and all later ones. It continues to send data and asks its trainer to reconnect when the
 * table has room and the session's own items are durable. The trainer then repeats what was not reported durable, so
 * each connection makes some of its receipts durable. Thread-safe.
 *
 * <p>All readers of a process see the same sessions, and one of them drains the table. A trainer's subscription
 * therefore precedes its receipts, and "durable up to entry n" needs no merging.
 */
public final class AckTable {
    /** Memory of an item in addition to its entries, in units of an entry's 32 bytes. */
    static final int ITEM_COST = 8;

    /**
     * Characters of stream and group that an item includes without extra cost. Each record in the ledger repeats both
     * names, so longer names cost as much as entries of their size.
     */
    static final int NAMES_INCLUDED = 64;

    /** A character has at most three bytes; an entry counts as 24 here, so that long names count in full. */
    private static final int CHARACTERS_OF_ENTRY = 8;

    private final int capacity;
    /**
     * What trainers occupy. The key is the trainer and not the session, so that a new connection does not get a new
     * share. Guarded by the lock.
     */
    private final Map<Trainer, Share> shares = new HashMap<>();

    private final Object lock = new Object();
    private final ArrayDeque<Entry> waiting = new ArrayDeque<>();
    private final Set<SessionReceipts> overflowed = new LinkedHashSet<>();
    /** Number of items that are not durable, by group. */
    private final Map<GroupName, Integer> undurable = new HashMap<>();
    /** Sessions that have lost items, which their trainers will repeat over another connection. */
    private final Map<SessionReceipts, GroupName> lossy = new HashMap<>();
    /** Readers in the order of their first request; the first one drains. */
    private final ArrayDeque<Drain> readers = new ArrayDeque<>();

    /** Number of entries that are not durable, and their cost including that of their items. */
    private int used;

    private long cost;
    private CompletableFuture<Void> available = new CompletableFuture<>();

    /** An item and its session. */
    private static final class Entry {
        final SessionReceipts session;
        final LedgerItem item;
        final int receipts;
        final Share share;
        boolean durable;

        Entry(SessionReceipts session, LedgerItem item, int receipts, Share share) {
            this.session = session;
            this.item = item;
            this.receipts = receipts;
            this.share = share;
        }

        long cost() {
            return cost(item);
        }

        static long cost(LedgerItem item) {
            int names =
                    item.identity().stream().length() + item.identity().group().length();
            return (long) item.weight() + ITEM_COST + Math.max(0, names - NAMES_INCLUDED) / CHARACTERS_OF_ENTRY;
        }
    }

    /** A place, over all connections and runs of its trainers. */
    private record Trainer(String stream, String group, int replica, int rank, int worker) {
        static Trainer of(Identity identity) {
            return new Trainer(
                    identity.stream(), identity.group(), identity.replica(), identity.rank(), identity.worker());
        }
    }

    /** What one trainer occupies. */
    private static final class Share {
        final Trainer trainer;
        long cost;

        Share(Trainer trainer) {
            this.trainer = trainer;
        }
    }

    /**
     * Returns whether the items fit and the trainer leaves as much free as it then occupies. Its first item only has to
     * fit.
     */
    private boolean fits(Share share, long more) {
        long free = capacity - cost - more;
        return share.cost == 0 ? free >= 0 || cost == 0 : free >= share.cost + more;
    }

    /** Updates the counts when an item has left the table. */
    private void release(Entry entry) {
        used -= entry.item.weight();
        undurable.computeIfPresent(GroupName.of(entry.item.identity()), (group, items) -> items > 1 ? items - 1 : null);
        cost -= entry.cost();
        entry.share.cost -= entry.cost();
        if (entry.share.cost == 0) {
            shares.remove(entry.share.trainer);
        }
    }

    /**
     * How many receipts of one session have become durable.
     *
     * <p>The callbacks run on the thread that drains or marks, without holding the table's lock.
     */
    public final class SessionReceipts {
        private final Runnable onDurable;
        private final Runnable onRoom;
        private final Runnable onRefused;
        private final ArrayDeque<Entry> order = new ArrayDeque<>();
        private long durable;
        private boolean lost;

        private SessionReceipts(Runnable onDurable, Runnable onRoom, Runnable onRefused) {
            this.onDurable = onDurable;
            this.onRoom = onRoom;
            this.onRefused = onRefused;
        }

        /**
         * Puts an item into the table.
         *
         * @param receipts number of ACK entries in the item; 0 for a subscription
         * @return whether there was room and no earlier item was lost
         */
        public boolean offer(LedgerItem item, int receipts) {
            CompletableFuture<Void> wake;
            synchronized (lock) {
                Trainer trainer = Trainer.of(item.identity());
                Share share = shares.getOrDefault(trainer, new Share(trainer));
                if (lost || !fits(share, Entry.cost(item))) {
                    lost = true;
                    overflowed.add(this);
                    lossy.put(this, GroupName.of(item.identity()));
                    return false;
                }
                shares.put(trainer, share);
                Entry entry = new Entry(this, item, receipts, share);
                order.add(entry);
                waiting.add(entry);
                used += item.weight();
                undurable.merge(GroupName.of(item.identity()), 1, Integer::sum);
                cost += entry.cost();
                entry.share.cost += entry.cost();
                wake = available;
            }
            wake.complete(null);
            return true;
        }

        /** Returns the number of ACK entries of this session, from its first one without a gap, that are durable. */
        public long durable() {
            synchronized (lock) {
                return durable;
            }
        }

        /** Marks the session as ended; its items stay in the table. */
        public void end() {
            synchronized (lock) {
                overflowed.remove(this);
                lossy.remove(this);
            }
        }
    }

    /**
     * @param capacity maximum number of entries that are not durable; each item costs {@value #ITEM_COST} additional
     *     entries
     */
    public AckTable(int capacity) {
        this.capacity = capacity;
    }

    /**
     * Adds a session.
     *
     * @param onDurable called when {@link SessionReceipts#durable} has increased
     * @param onRoom called when the session should reconnect to repeat what it lost
     * @param onRefused called when an item of the session cannot be written; later items of the session never become
     *     durable
     */
    public SessionReceipts session(Runnable onDurable, Runnable onRoom, Runnable onRefused) {
        return new SessionReceipts(onDurable, onRoom, onRefused);
    }

    /** Returns a reader's view, for one thread. */
    public Drain drain() {
        return new Drain();
    }

    /** Returns the number of entries that are not durable. */
    public int pending() {
        synchronized (lock) {
            return used;
        }
    }

    /**
     * The items that one reader has drained and not yet made durable. For one thread. If there are several readers,
     * only the one that asked first gets items until it is closed, so that one reader sees all items of a trainer in
     * order.
     */
    public final class Drain implements AutoCloseable {
        private final ArrayDeque<Entry> drained = new ArrayDeque<>();
        private final CompletableFuture<Void> turn = new CompletableFuture<>();
        private boolean joined;
        private long first;
        private boolean closed;

        private Drain() {}

        /**
         * Returns a future that completes when this reader may have something to drain. It is complete already if the
         * reader has something now.
         */
        public CompletableFuture<Void> available() {
            synchronized (lock) {
                return isFirst() ? available : turn;
            }
        }

        /** Returns whether it is this reader's turn. The first call adds the reader to the queue. */
        private boolean isFirst() {
            if (!joined) {
                joined = true;
                readers.add(this);
            }
            return readers.peek() == this;
        }

        /** Takes items out of the table; see {@code NodeLease.drainAcks}. */
        public int drain(Predicate<LedgerItem> writer, int max) {
            int taken = 0;
            while (taken < max && !closed) {
                Entry entry;
                synchronized (lock) {
                    if (!isFirst()) {
                        break;
                    }
                    entry = waiting.poll();
                    if (waiting.isEmpty() && available.isDone()) {
                        available = new CompletableFuture<>();
                    }
                }
                if (entry == null) {
                    break;
                }
                drained.add(entry);
                taken += entry.item.weight();
                if (!writer.test(entry.item)) {
                    drained.removeLast();
                    refuse(entry);
                }
            }
            return taken;
        }

        /** Drops an item. If it returned to the table, it would fail every later reader. */
        private void refuse(Entry entry) {
            synchronized (lock) {
                release(entry);
                entry.session.lost = true;
            }
            entry.session.onRefused.run();
        }

        /**
         * Returns the groups whose receipts this reader must still write: receipts that are not durable, and receipts
         * that trainers will repeat because the table was full. Empty while another reader drains.
         */
        public Set<GroupName> owing() {
            synchronized (lock) {
                if (readers.peek() != this) {
                    return Set.of();
                }
                Set<GroupName> groups = new HashSet<>(undurable.keySet());
                groups.addAll(lossy.values());
                return groups;
            }
        }

        /** Returns a token for everything drained so far. */
        public long token() {
            return first + drained.size();
        }

        /** Marks everything up to the token as durable. */
        public void markDurable(long token) {
            // In the order of their receipts, so that equal runs call the sessions in the same order.
            Set<SessionReceipts> grown = new LinkedHashSet<>();
            List<SessionReceipts> room;
            synchronized (lock) {
                while (first < token && !drained.isEmpty()) {
                    Entry entry = drained.poll();
                    first++;
                    entry.durable = true;
                    release(entry);
                    SessionReceipts session = entry.session;
                    while (!session.order.isEmpty() && session.order.peek().durable) {
                        int receipts = session.order.poll().receipts;
                        session.durable += receipts;
                        if (receipts > 0) {
                            grown.add(session);
                        }
                    }
                }
                room = takeRoom();
            }
            grown.forEach(session -> session.onDurable.run());
            room.forEach(session -> session.onRoom.run());
        }

        /** Returns all items that are not durable to the table, where they are drained again. */
        @Override
        public void close() {
            List<CompletableFuture<Void>> wake = new ArrayList<>();
            synchronized (lock) {
                closed = true;
                while (!drained.isEmpty()) {
                    waiting.addFirst(drained.pollLast());
                }
                if (!waiting.isEmpty()) {
                    wake.add(available);
                }
                readers.remove(this);
                if (!readers.isEmpty()) {
                    wake.add(readers.peek().turn);
                }
            }
            wake.forEach(future -> future.complete(null));
        }
    }

    private List<SessionReceipts> takeRoom() {
        if (overflowed.isEmpty() || cost > capacity / 2) {
            return List.of();
        }
        // A session that ended before it has reported its items as durable would have all of them repeated.
        List<SessionReceipts> room = new ArrayList<>();
        overflowed.forEach(session -> {
            if (session.order.isEmpty()) {
                room.add(session);
            }
        });
        room.forEach(overflowed::remove);
        return room;
    }
}

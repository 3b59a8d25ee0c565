package dev.stoker.feeder.node.ack;

import dev.stoker.feeder.node.GroupName;
import dev.stoker.feeder.node.Identity;
import dev.stoker.feeder.node.LedgerItem;
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
 * Ledger items between the sessions that receive them and the readers that write them down.
 *
 * <p>Bounded by entries not yet durable. A trainer may hold at most as much of the table as it leaves free, so a trainer that
 * floods the table harms only itself. A session whose item finds no room loses it and all that follow, keeps sending
 * data, and is asked to reconnect once there is room: its trainer then repeats what was not reported durable. Thread-safe.
 *
 * <p>All readers of a process see the same sessions, and one of them drains the table. A trainer's subscription
 * therefore precedes its receipts, and "durable up to entry n" needs no merging.
 */
public final class AckTable {
    /** An item takes memory beside its entries, in units of an entry's 24 bytes. */
    static final int ITEM_COST = 8;

    private final int capacity;
    /** What trainers hold, by trainer, and not by session: a new connection is no new share. Guarded by the lock. */
    private final Map<Trainer, Share> shares = new HashMap<>();

    private final Object lock = new Object();
    private final ArrayDeque<Entry> waiting = new ArrayDeque<>();
    private final Set<SessionReceipts> overflowed = new LinkedHashSet<>();
    /** Items not yet durable, by group. */
    private final Map<GroupName, Integer> undurable = new HashMap<>();
    /** Sessions that have lost items which their trainers will repeat elsewhere. */
    private final Map<SessionReceipts, GroupName> lossy = new HashMap<>();
    /** Readers in the order in which they first asked; the first one drains. */
    private final ArrayDeque<Drain> readers = new ArrayDeque<>();

    /** Entries not yet durable, and what they and their items cost. */
    private int used;

    private long cost;
    private CompletableFuture<Void> available = new CompletableFuture<>();

    /** An item and whose it is. */
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
            return (long) item.weight() + ITEM_COST;
        }
    }

    /** Whoever takes a place, over whichever connections and in whichever runs. */
    private record Trainer(String stream, String group, int replica, int rank, int worker) {
        static Trainer of(Identity identity) {
            return new Trainer(
                    identity.stream(), identity.group(), identity.replica(), identity.rank(), identity.worker());
        }
    }

    /** What one trainer holds. */
    private static final class Share {
        final Trainer trainer;
        long cost;

        Share(Trainer trainer) {
            this.trainer = trainer;
        }
    }

    /** Whether there is room, and the trainer would leave as much free as it holds then; its first item needs only room. */
    private boolean fits(Share share, long more) {
        long free = capacity - cost - more;
        return share.cost == 0 ? free >= 0 || cost == 0 : free >= share.cost + more;
    }

    /** An item has left the table. */
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
     * How far one session's receipts have become durable.
     *
     * <p>The callbacks run on the thread that drains or marks, outside of the table's lock.
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
         * @param receipts ACK entries the item stands for; 0 for a subscription
         * @return whether there was room and nothing was lost before
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

        /** ACK entries of this session, from its first on without a gap, that are in the ledger for good. */
        public long durable() {
            synchronized (lock) {
                return durable;
            }
        }

        /** The session has ended; its items stay. */
        public void end() {
            synchronized (lock) {
                overflowed.remove(this);
                lossy.remove(this);
            }
        }
    }

    /** @param capacity entries not yet durable that the table holds; each item costs {@value #ITEM_COST} entries more */
    public AckTable(int capacity) {
        this.capacity = capacity;
    }

    /**
     * Adds a session.
     *
     * @param onDurable called when {@link SessionReceipts#durable} has grown
     * @param onRoom called when the session should reconnect to repeat what it lost
     * @param onRefused called when an item of the session cannot be written; nothing of it becomes durable after that
     */
    public SessionReceipts session(Runnable onDurable, Runnable onRoom, Runnable onRefused) {
        return new SessionReceipts(onDurable, onRoom, onRefused);
    }

    /** A reader's view; for one thread. */
    public Drain drain() {
        return new Drain();
    }

    /** Entries not yet durable. */
    public int pending() {
        synchronized (lock) {
            return used;
        }
    }

    /**
     * What one reader has drained and not yet made durable. One thread. Of several readers only the one that asked first
     * gets items, until it is closed, so that one reader sees all of a trainer in order.
     */
    public final class Drain implements AutoCloseable {
        private final ArrayDeque<Entry> drained = new ArrayDeque<>();
        private final CompletableFuture<Void> turn = new CompletableFuture<>();
        private boolean joined;
        private long first;
        private boolean closed;

        private Drain() {}

        /** Completes when there is something for this reader to drain, or might be; complete already when there is. */
        public CompletableFuture<Void> available() {
            synchronized (lock) {
                return isFirst() ? available : turn;
            }
        }

        /** Whether it is this reader's turn; joins the others on the first call. */
        private boolean isFirst() {
            if (!joined) {
                joined = true;
                readers.add(this);
            }
            return readers.peek() == this;
        }

        /** See {@code NodeLease.drainAcks}. */
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

        /** Drops an item: given back, it would fail every reader after this one. */
        private void refuse(Entry entry) {
            synchronized (lock) {
                release(entry);
                entry.session.lost = true;
            }
            entry.session.onRefused.run();
        }

        /**
         * Returns the groups whose receipts this reader has yet to write: receipts that are not durable, and receipts that
         * trainers will repeat because there was no room for them. Empty while another reader drains.
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

        /** Stands for everything drained so far. */
        public long token() {
            return first + drained.size();
        }

        /** Everything up to the token is durable. */
        public void markDurable(long token) {
            // In the order of their receipts, so that equal runs tell them in equal order.
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

        /** Gives back what is not durable, to be drained again. */
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
        List<SessionReceipts> room = new ArrayList<>(overflowed);
        overflowed.clear();
        return room;
    }
}

package dev.stoker.client.feeder;

import dev.stoker.client.source.ReceivedPiece;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.Protocol;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The receipts of consumed batches on their way to the ledger. They are coalesced, and kept until the feeder reports
 * them as durable. Guarded by the client's lock.
 */
final class PendingReceipts {
    /** Entries of one epoch; without any, what a subscription says that has no number. */
    record Entries(long epoch, List<AckEntry> entries) {
        boolean isReceipts() {
            return !entries.isEmpty();
        }

        int count() {
            return isReceipts() ? entries.size() : 1;
        }
    }

    /** Entries whose connection ended before they were durable. */
    private final Deque<Entries> orphans = new ArrayDeque<>();
    /** Connections with receipts that are not yet sent. */
    private final Set<FeederConnection> waiting = new LinkedHashSet<>();
    /** Connections on which receipts were sent. */
    private final Set<FeederConnection> open = new LinkedHashSet<>();

    private long oldestNs;
    private boolean hasOldest;

    /** Adds the receipts of one consumed batch and sends full frames. */
    void add(List<ReceivedPiece> pieces, long nowNs) {
        if (!hasOldest) {
            hasOldest = true;
            oldestNs = nowNs;
        }
        for (ReceivedPiece piece : pieces) {
            FeederConnection connection = FeederConnection.of(piece);
            if (connection.isReadOnly) {
                continue;
            }
            var identity = piece.header().identity();
            AckEntry entry = AckEntry.of(piece.header());
            if (connection.isClosed()) {
                orphans.add(new Entries(identity.epoch(), List.of(entry)));
                continue;
            }
            if (connection.pendingEpoch != identity.epoch() && !connection.pending.isEmpty()) {
                send(connection);
            }
            connection.pendingEpoch = identity.epoch();
            connection.pending.add(entry);
            waiting.add(connection);
            if (connection.pending.size() >= Protocol.ACK_ENTRIES) {
                send(connection);
            }
        }
    }

    /**
     * A subscription says that the trainer has no number in an epoch, which counts as one entry.
     *
     * @return false if the session's token is for reading only, so that nothing of it is in the ledger
     */
    boolean addEmpty(FeederConnection connection, long epoch) {
        if (connection.isReadOnly) {
            return false;
        }
        open.add(connection);
        connection.sentEntries++;
        connection.undurable.add(new Entries(epoch, List.of()));
        return true;
    }

    /** Sends everything that has a connection. */
    void flush() {
        for (FeederConnection connection : List.copyOf(waiting)) {
            send(connection);
        }
        hasOldest = false;
    }

    private void send(FeederConnection connection) {
        waiting.remove(connection);
        if (!connection.pending.isEmpty()) {
            Entries entries = new Entries(connection.pendingEpoch, List.copyOf(connection.pending));
            connection.pending.clear();
            sent(connection, entries);
        }
    }

    private void sent(FeederConnection connection, Entries entries) {
        open.add(connection);
        connection.sentEntries += entries.entries().size();
        connection.undurable.add(entries);
        connection.send(new Ack(connection.subscription, entries.epoch(), entries.entries()));
    }

    /**
     * Notes that the server has made the first {@code count} entries of this session durable. False if it never
     * received that many.
     */
    boolean durable(FeederConnection connection, long count) {
        if (count > connection.sentEntries) {
            return false;
        }
        while (!connection.undurable.isEmpty()
                && connection.durable + connection.undurable.peek().count() <= count) {
            connection.durable += connection.undurable.poll().count();
        }
        return true;
    }

    /** Sends all orphans, after the connection's SUBSCRIBE. */
    void adopt(FeederConnection connection) {
        while (!orphans.isEmpty()) {
            Entries first = orphans.poll();
            List<AckEntry> together = new ArrayList<>(first.entries());
            while (!orphans.isEmpty()
                    && orphans.peek().epoch() == first.epoch()
                    && together.size() + orphans.peek().entries().size() <= Protocol.ACK_ENTRIES) {
                together.addAll(orphans.poll().entries());
            }
            sent(connection, new Entries(first.epoch(), List.copyOf(together)));
        }
    }

    /** Handles the end of a connection: its entries that are not durable become orphans. */
    void lost(FeederConnection connection) {
        waiting.remove(connection);
        open.remove(connection);
        connection.undurable.stream().filter(Entries::isReceipts).forEach(orphans::add);
        if (!connection.pending.isEmpty()) {
            orphans.add(new Entries(connection.pendingEpoch, List.copyOf(connection.pending)));
        }
        connection.undurable.clear();
        connection.pending.clear();
    }

    /** Whether receipts have waited so long that they must be sent. */
    boolean isDue(long nowNs, long delayNs) {
        return hasOldest && nowNs - oldestNs >= delayNs;
    }

    boolean isWaiting() {
        return hasOldest;
    }

    /** Whether any receipt is not durable yet. */
    boolean isUnconfirmed() {
        return hasOldest || !orphans.isEmpty() || open.stream().anyMatch(connection -> !connection.undurable.isEmpty());
    }

    /** Whether receipts need a connection to be sent again. */
    boolean hasOrphans() {
        return !orphans.isEmpty();
    }
}

package dev.stoker.client;

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
final class Receipts {
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
    private final Set<Link> waiting = new LinkedHashSet<>();
    /** Connections on which receipts were sent. */
    private final Set<Link> open = new LinkedHashSet<>();

    private long oldestNs;
    private boolean hasOldest;

    /** Adds the receipts of one consumed batch and sends full frames. */
    void add(List<Piece> pieces, long nowNs) {
        if (!hasOldest) {
            hasOldest = true;
            oldestNs = nowNs;
        }
        for (Piece piece : pieces) {
            if (piece.link().orElseThrow().isReadOnly) {
                continue;
            }
            var identity = piece.header().identity();
            AckEntry entry = new AckEntry(
                    identity.number(),
                    identity.piece(),
                    identity.repeated(),
                    piece.header().crc(),
                    identity.rows(),
                    identity.skipped());
            Link link = piece.link().orElseThrow();
            if (link.isClosed()) {
                orphans.add(new Entries(identity.epoch(), List.of(entry)));
                continue;
            }
            if (link.pendingEpoch != identity.epoch() && !link.pending.isEmpty()) {
                send(link);
            }
            link.pendingEpoch = identity.epoch();
            link.pending.add(entry);
            waiting.add(link);
            if (link.pending.size() >= Protocol.ACK_ENTRIES) {
                send(link);
            }
        }
    }

    /**
     * A subscription says that the trainer has no number in an epoch, which counts as one entry.
     *
     * @return false if the session's token is for reading only, so that nothing of it is in the ledger
     */
    boolean addEmpty(Link link, long epoch) {
        if (link.isReadOnly) {
            return false;
        }
        open.add(link);
        link.sentEntries++;
        link.undurable.add(new Entries(epoch, List.of()));
        return true;
    }

    /** Sends everything that has a connection. */
    void flush() {
        for (Link link : List.copyOf(waiting)) {
            send(link);
        }
        hasOldest = false;
    }

    private void send(Link link) {
        waiting.remove(link);
        if (!link.pending.isEmpty()) {
            Entries entries = new Entries(link.pendingEpoch, List.copyOf(link.pending));
            link.pending.clear();
            sent(link, entries);
        }
    }

    private void sent(Link link, Entries entries) {
        open.add(link);
        link.sentEntries += entries.entries().size();
        link.undurable.add(entries);
        link.send(new Ack(link.subscription, entries.epoch(), entries.entries()));
    }

    /**
     * Notes that the server has made the first {@code count} entries of this session durable. False if it never
     * received that many.
     */
    boolean durable(Link link, long count) {
        if (count > link.sentEntries) {
            return false;
        }
        while (!link.undurable.isEmpty() && link.durable + link.undurable.peek().count() <= count) {
            link.durable += link.undurable.poll().count();
        }
        return true;
    }

    /** Sends all orphans, after the connection's SUBSCRIBE. */
    void adopt(Link link) {
        while (!orphans.isEmpty()) {
            Entries first = orphans.poll();
            List<AckEntry> together = new ArrayList<>(first.entries());
            while (!orphans.isEmpty()
                    && orphans.peek().epoch() == first.epoch()
                    && together.size() + orphans.peek().entries().size() <= Protocol.ACK_ENTRIES) {
                together.addAll(orphans.poll().entries());
            }
            sent(link, new Entries(first.epoch(), List.copyOf(together)));
        }
    }

    /** Handles the end of a connection: its entries that are not durable become orphans. */
    void lost(Link link) {
        waiting.remove(link);
        open.remove(link);
        link.undurable.stream().filter(Entries::isReceipts).forEach(orphans::add);
        if (!link.pending.isEmpty()) {
            orphans.add(new Entries(link.pendingEpoch, List.copyOf(link.pending)));
        }
        link.undurable.clear();
        link.pending.clear();
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
        return hasOldest || !orphans.isEmpty() || open.stream().anyMatch(link -> !link.undurable.isEmpty());
    }

    /** Whether receipts need a connection to be sent again. */
    boolean hasOrphans() {
        return !orphans.isEmpty();
    }
}

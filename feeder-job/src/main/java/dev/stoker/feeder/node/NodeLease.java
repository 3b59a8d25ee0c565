package dev.stoker.feeder.node;

import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.UnixAddress;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * One reader's share in a {@link FeedNode}. The node stays up while a lease is open, and a while longer.
 *
 * <p>Ledger items are drained by whoever comes first and belong to that lease until they are durable; what a closed lease
 * drained and did not make durable goes back to the table and is drained again. {@link #drainAcks}, {@link #drainToken},
 * {@link #markDurable} and {@link #close} are for one thread; everything else may be called by any.
 */
public interface NodeLease extends AutoCloseable {
    /** {@code host:port} for trainers. */
    String address();

    /** The Unix-domain socket that leads to the same server, if there is one. */
    Optional<UnixAddress> unix();

    /** Says that this process is a preferred place of the lane; counted in the metrics, and no condition of serving it. */
    void registerLane(String stream, int lane);

    /** Takes back {@link #registerLane}; trainers that still ask for the lane are served as before. */
    void releaseLane(String stream, int lane);

    /** Gives the stream's lane map to all sessions, unless the node has a newer one. */
    void updateLaneMap(String stream, LaneMap map);

    /**
     * Takes ledger items out of the table.
     *
     * @param writer called for each item, in order per trainer; false if it can never be written, which drops the item and ends
     *     the session that it came from
     * @param max entries (see {@link LedgerItem#weight}) after which no further item is taken
     * @return entries taken
     */
    int drainAcks(Predicate<LedgerItem> writer, int max);

    /** Completes when the table has something to drain; complete already when it has. */
    CompletableFuture<Void> acksAvailable();

    /** Stands for everything this lease has drained so far; taken when a checkpoint begins. */
    long drainToken();

    /** Everything up to the token is in the ledger for good: trainers are told, and may forget it. */
    void markDurable(long token);

    /**
     * Groups with receipts on their way to the ledger: this lease has them or will drain them, or trainers are about to repeat
     * them for want of room.
     */
    Set<GroupName> owing();

    /** What this node knows of the groups that trainers read in, or did last. */
    List<GroupFacts> groupFacts();

    /** What this node knows of a group; also of one that its trainers left long ago, until that is forgotten. */
    Optional<GroupFacts> groupFacts(String stream, String group);

    /** The time in the greatest generation of the lane maps that this node was given; 0 before the first. */
    long mapsMadeMs();

    /** Takes over what another node knows of a group: its order spec if none is fixed here, and its run. */
    void learn(GroupFacts facts);

    /** Since when no trainer has been connected; empty while one is. */
    Optional<Instant> idleSince();

    /** What holds data in front of origins; the same ones in the same order for as long as the node lives. */
    List<FeedStatus.Tier> tiers();

    /** How the feed stands, as this node knows it. */
    FeedStatus status();

    /**
     * Shows how the feed stands, until the node ends; the first lease to ask for it starts the page, the others share it.
     *
     * @throws IOException if it cannot be started
     */
    void show(StatusPage.Starter starter) throws IOException;

    /** Where that page is; empty if there is none. */
    Optional<String> statusUrl();

    /** Totals and gauges of the node, the same for all its leases. */
    NodeMetrics metrics();

    /** A failure that ended the node's server, if any. */
    Optional<IOException> failure();

    @Override
    void close();
}

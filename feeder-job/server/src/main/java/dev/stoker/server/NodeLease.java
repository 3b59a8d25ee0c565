package dev.stoker.server;

import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.GroupFacts;
import dev.stoker.server.feed.GroupName;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.feed.LedgerItem;
import dev.stoker.server.feed.NodeMetrics;
import dev.stoker.server.feed.StatusPage;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * One reader's share in a {@link FeedNode}. The node runs while a lease is open, and for a while after the last one was
 * closed.
 *
 * <p>Any lease can drain ledger items. A drained item belongs to its lease until the item is durable. When a lease is
 * closed, its items that are not durable return to the table and are drained again. {@link #drainAcks}, {@link
 * #drainToken}, {@link #markDurable} and {@link #close} are for one thread; any thread may call the other methods.
 */
public interface NodeLease extends AutoCloseable {
    /** Returns {@code host:port} for trainers. */
    String address();

    /** Returns the Unix-domain socket that leads to the same server, if it exists. */
    Optional<UnixAddress> unix();

    /**
     * Notes that this process is a preferred place of the lane. This is counted in the metrics, and not required for
     * serving the lane.
     */
    void registerLane(String stream, int lane);

    /** Reverts {@link #registerLane}. Trainers that still ask for the lane are served as before. */
    void releaseLane(String stream, int lane);

    /** Sends the stream's lane map to all sessions, unless the node has a newer one. */
    void updateLaneMap(String stream, LaneMap map);

    /**
     * Takes ledger items out of the table.
     *
     * @param writer called for each item, in order per trainer; returns false if the item can never be written, which
     *     drops the item and ends its session
     * @param max number of entries (see {@link LedgerItem#weight}) after which no further item is taken
     * @return number of entries taken
     */
    int drainAcks(Predicate<LedgerItem> writer, int max);

    /**
     * Returns a future that completes when the table has something to drain. It is complete already if the table has
     * something now.
     */
    CompletableFuture<Void> acksAvailable();

    /**
     * Returns a token for everything that this lease has drained so far. The reader takes it when a checkpoint begins.
     */
    long drainToken();

    /** Marks everything up to the token as durable. The server tells the trainers, which can then forget it. */
    void markDurable(long token);

    /** Returns whether the end of the feed depends on a group. */
    boolean awaits(GroupName group);

    /**
     * Counts a consumer whose progress this reader has restored from a checkpoint. The server refuses new consumers if
     * the progress of all would not fit into the next checkpoint.
     */
    void restore(Identity consumer);

    /**
     * Returns the groups with receipts that are not written to the ledger yet: this lease has drained them or will
     * drain them, or trainers are about to repeat them because the table was full.
     */
    Set<GroupName> owing();

    /** Returns what this node knows of the groups in which trainers read now or read last. */
    List<GroupFacts> groupFacts();

    /** Returns what this node knows of a group. It remembers a group for some time after the trainers left. */
    Optional<GroupFacts> groupFacts(String stream, String group);

    /** Returns when this node's server began. It tells two servers apart that have had the same address. */
    long startedMs();

    /**
     * Returns the start time in the greatest generation of the lane maps that this node was given; 0 before the first.
     */
    long mapsMadeMs();

    /** Takes over what another node knows of a group: its order spec, if this node has not fixed one, and its run. */
    void learn(GroupFacts facts);

    /** Returns since when no trainer has been connected; empty while one is connected. */
    Optional<Instant> idleSince();

    /**
     * Returns the tiers and other memory that hold data in front of origins. They stay the same, in the same order,
     * while the node lives.
     */
    List<FeedStatus.Tier> tiers();

    /** Returns the state of the feed, as this node knows it. */
    FeedStatus status();

    /**
     * Starts the status page, which lives until the node ends. The first lease that calls this starts the page; the
     * others share it.
     *
     * @throws IOException if the page cannot be started
     */
    void show(StatusPage.Starter starter) throws IOException;

    /** Returns the URL of the status page; empty if it was not started. */
    Optional<String> statusUrl();

    /** Returns the totals and gauges of the node, which are the same for all leases. */
    NodeMetrics metrics();

    /** Returns the failure that ended the node's server, if any. */
    Optional<IOException> failure();

    @Override
    void close();
}

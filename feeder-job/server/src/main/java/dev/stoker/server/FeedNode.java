package dev.stoker.server;

import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.GroupFacts;
import dev.stoker.server.feed.GroupName;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.feed.LedgerItem;
import dev.stoker.server.feed.NodeMetrics;
import dev.stoker.server.feed.PortTakenException;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.feed.StatusPage;
import dev.stoker.server.session.FeedServer;
import dev.stoker.server.session.receipts.AckTable;
import java.io.IOException;
import java.net.BindException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Serves one feed from this process; shared by reference count between the readers of the process. After the last lease
 * is closed the node stays for a while, so that a restarted task finds sessions, windows and mappings as they were.
 */
public final class FeedNode {
    private static final Map<UUID, FeedNode> NODES = new HashMap<>();
    private static @Nullable ScheduledExecutorService lingering;

    private final UUID id;
    private final ServerOptions options;
    private final FeedServer server;
    private @Nullable StatusPage page;
    private int leases;
    private @Nullable ScheduledFuture<?> end;

    /** A node outside of the process's own ones, whose server the caller closes. */
    FeedNode(UUID id, ServerOptions options, FeedServer server) {
        this.id = id;
        this.options = options;
        this.server = server;
    }

    /**
     * Joins this process's node of the feed, or starts it: opens the streams, binds the port, accepts trainers.
     *
     * @throws PortTakenException if none of the ports is free
     * @throws IOException if a stream cannot be opened
     */
    public static NodeLease acquire(FeedSpec spec, ServerOptions options) throws IOException {
        return acquire(spec, options, new DatasetStreams(spec.id(), spec.streams()));
    }

    /** As {@link #acquire(FeedSpec, ServerOptions)}, with streams that are opened another way. */
    static NodeLease acquire(FeedSpec spec, ServerOptions options, FeedServer.Streams streams) throws IOException {
        synchronized (NODES) {
            FeedNode node = NODES.get(spec.id());
            if (node == null) {
                try {
                    node = new FeedNode(spec.id(), options, new FeedServer(spec, options, streams));
                } catch (BindException e) {
                    throw new PortTakenException(options.bind(), options.ports(), e);
                }
                NODES.put(spec.id(), node);
            }
            return node.lease();
        }
    }

    /** Adds a lease, and stays for it. */
    NodeLease lease() {
        synchronized (NODES) {
            leases++;
            if (end != null) {
                end.cancel(false);
                end = null;
            }
            return new Lease(this);
        }
    }

    /** Ends every node of this class loader at once. */
    public static void closeAll() {
        List<FeedNode> all;
        synchronized (NODES) {
            all = new ArrayList<>(NODES.values());
            NODES.clear();
            stopLingering();
        }
        all.forEach(FeedNode::close);
    }

    /**
     * Ends the nodes that nobody leases, without waiting for their time; for the hook that runs when a job's code is
     * unloaded. Several TaskManagers of one process may share this class, so nodes in use stay.
     */
    public static void closeUnused() {
        List<FeedNode> unused;
        synchronized (NODES) {
            unused = NODES.values().stream().filter(node -> node.leases == 0).toList();
            unused.forEach(node -> NODES.remove(node.id));
            if (NODES.isEmpty()) {
                stopLingering();
            }
        }
        unused.forEach(FeedNode::close);
    }

    private static void stopLingering() {
        if (lingering != null) {
            lingering.shutdownNow();
            lingering = null;
        }
    }

    private void release() {
        boolean now = false;
        synchronized (NODES) {
            if (--leases > 0 || NODES.get(id) != this) {
                return;
            }
            long lingerMs = options.linger().toMillis();
            if (lingerMs == 0) {
                NODES.remove(id);
                now = true;
            } else {
                if (lingering == null) {
                    lingering = Executors.newSingleThreadScheduledExecutor(task -> {
                        Thread thread = new Thread(task, "stoker-node-linger");
                        thread.setDaemon(true);
                        return thread;
                    });
                }
                end = lingering.schedule(this::endUnlessLeased, lingerMs, TimeUnit.MILLISECONDS);
            }
        }
        if (now) {
            close();
        }
    }

    private void endUnlessLeased() {
        synchronized (NODES) {
            if (leases > 0 || NODES.get(id) != this) {
                return;
            }
            NODES.remove(id);
        }
        close();
    }

    private void close() {
        StatusPage shown;
        synchronized (NODES) {
            shown = page;
        }
        if (shown != null) {
            shown.close();
        }
        server.close();
    }

    /** One reader's share. */
    private static final class Lease implements NodeLease {
        private final FeedNode node;
        private final AckTable.Drain drain;
        private final Set<String> lanes = ConcurrentHashMap.newKeySet();
        private boolean closed;

        Lease(FeedNode node) {
            this.node = node;
            this.drain = node.server.acks().drain();
        }

        @Override
        public String address() {
            return node.server.address();
        }

        @Override
        public Optional<UnixAddress> unix() {
            return node.server.unix();
        }

        @Override
        public void registerLane(String stream, int lane) {
            if (lanes.add(stream + '/' + lane)) {
                node.server.lanes().increment();
                node.server.warm(stream, lane);
            }
        }

        @Override
        public void releaseLane(String stream, int lane) {
            if (lanes.remove(stream + '/' + lane)) {
                node.server.lanes().decrement();
            }
        }

        @Override
        public void updateLaneMap(String stream, LaneMap map) {
            node.server.updateLaneMap(stream, map);
        }

        @Override
        public int drainAcks(Predicate<LedgerItem> writer, int max) {
            return drain.drain(writer, max);
        }

        @Override
        public CompletableFuture<Void> acksAvailable() {
            return drain.available();
        }

        @Override
        public long drainToken() {
            return drain.token();
        }

        @Override
        public void markDurable(long token) {
            drain.markDurable(token);
        }

        @Override
        public boolean awaits(GroupName group) {
            return node.server.awaits(group);
        }

        @Override
        public void restore(Identity consumer) {
            node.server.restore(consumer);
        }

        @Override
        public Set<GroupName> owing() {
            return drain.owing();
        }

        @Override
        public List<GroupFacts> groupFacts() {
            return node.server.facts();
        }

        @Override
        public Optional<GroupFacts> groupFacts(String stream, String group) {
            return node.server.facts(stream, group);
        }

        @Override
        public long startedMs() {
            return node.server.startedMs();
        }

        @Override
        public long mapsMadeMs() {
            return node.server.mapsMadeMs();
        }

        @Override
        public void learn(GroupFacts facts) {
            node.server.learn(facts);
        }

        @Override
        public Optional<Instant> idleSince() {
            return node.server.idleSince();
        }

        @Override
        public List<FeedStatus.Tier> tiers() {
            return node.server.tiers();
        }

        @Override
        public FeedStatus status() {
            return node.server.status();
        }

        @Override
        public void show(StatusPage.Starter starter) throws IOException {
            synchronized (NODES) {
                if (node.page == null) {
                    node.page = starter.start(node.server::status);
                }
            }
        }

        @Override
        public Optional<String> statusUrl() {
            synchronized (NODES) {
                return Optional.ofNullable(node.page).map(StatusPage::url);
            }
        }

        @Override
        public NodeMetrics metrics() {
            return node.server.metrics();
        }

        @Override
        public Optional<IOException> failure() {
            return Optional.empty();
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                node.server.lanes().add(-lanes.size());
                drain.close();
                node.release();
            }
        }
    }
}

package dev.stoker.server.session;

import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import dev.stoker.server.chunks.ChunkSources;
import dev.stoker.server.chunks.OriginReads;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.GroupFacts;
import dev.stoker.server.feed.GroupName;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.feed.NodeMetrics;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.feed.Used;
import dev.stoker.server.security.ServerTls;
import dev.stoker.server.session.accept.Listener;
import dev.stoker.server.session.accept.TcpListener;
import dev.stoker.server.session.group.FeedStream;
import dev.stoker.server.session.group.Group;
import dev.stoker.server.session.group.Groups;
import dev.stoker.server.session.group.StreamOrders;
import dev.stoker.server.session.receipts.AckTable;
import dev.stoker.server.threads.Threads;
import dev.stoker.server.window.DamageCheck;
import dev.stoker.server.window.ServedStream;
import dev.stoker.server.window.StreamVersions;
import dev.stoker.server.window.WorkingMemory;
import java.io.IOException;
import java.net.BindException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The server of one feed: streams, sessions, and what they share. Thread-safe. */
public final class FeedServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FeedServer.class);

    private final FeedSpec spec;
    private final ServerOptions options;
    private final Map<String, FeedStream> streams = new LinkedHashMap<>();
    private final Counters counters = new Counters();
    private final ChunkResources resources;
    private final AckTable acks;
    private final Consumers consumers;
    private final LongAdder lanes = new LongAdder();
    private final Threads threads;
    private final Listener listener;
    private final Instant started;
    private final Sessions sessions;

    /** Opens the feed's streams. */
    public interface Streams {
        List<ServedStream> open(ChunkSources sources) throws IOException;

        /** Of a stream that was opened: its other versions, if it follows its dataset. */
        default Optional<StreamVersions> versions(String stream) {
            return Optional.empty();
        }

        /**
         * Opens the sample index of a stream that was opened. Any thread.
         *
         * @return empty if its samples cannot be looked up
         */
        default Optional<SampleIndex> index(ServedStream stream) throws IOException {
            return Optional.empty();
        }
    }

    /**
     * Binds, opens the streams, and accepts trainers from then on.
     *
     * @throws BindException if none of the ports is free
     * @throws IOException if a stream cannot be opened
     */
    public FeedServer(FeedSpec spec, ServerOptions options, Streams opener) throws IOException {
        this(spec, options, opener, Threads.system());
    }

    /** As {@link #FeedServer(FeedSpec, ServerOptions, Streams)}, with threads and time of the caller's choice. */
    public FeedServer(FeedSpec spec, ServerOptions options, Streams opener, Threads threads) throws IOException {
        this(spec, options, opener, threads, (gate, rejected) -> TcpListener.open(options, gate, rejected));
    }

    /** As above, with connections of the caller's choice, too. */
    public FeedServer(FeedSpec spec, ServerOptions options, Streams opener, Threads threads, Listener.Opener entrance)
            throws IOException {
        this.spec = spec;
        this.threads = threads;
        this.started = Instant.ofEpochMilli(threads.nowMs());
        this.options = options;
        this.resources = new ChunkResources(options, spec.onCorrupt(), counters.corrupt, opener::index, threads);
        this.acks = new AckTable(options.maxPendingReceipts());
        this.consumers = new Consumers(spec::awaits);
        // Before the port, so that wrong files are said first.
        Optional<ServerTls> tls = options.access().tls().isPresent()
                ? Optional.of(ServerTls.open(options.access().tls().get()))
                : Optional.empty();
        this.sessions = new Sessions(
                spec, options, streams, tls, new Session.Shared(resources, acks, consumers, counters, threads));
        try {
            this.listener = entrance.open(sessions, counters.rejected);
        } catch (IOException | RuntimeException | Error e) {
            sessions.stopTimer();
            throw e;
        }
        try {
            open(opener);
        } catch (IOException | RuntimeException | Error e) {
            listener.close();
            sessions.stopTimer();
            resources.close();
            throw e;
        }
        listener.start();
        LOG.info(
                "Feed {} is served at {}{}{}",
                spec.name(),
                listener.address(),
                tls.isPresent() ? " over TLS" : "",
                listener.unix().map(place -> " and unix:" + place.path()).orElse(""));
        options.access().warnings(options.bind()).forEach(LOG::warn);
        sessions.warning().ifPresent(LOG::warn);
    }

    private void open(Streams opener) throws IOException {
        OrderSpec defaults = OrderOverlay.fromJson(spec.order()).over(OrderSpec.defaults());
        WorkingMemory memory =
                new WorkingMemory(options.windowBytes(), options.workingMemoryBytes() != ServerOptions.AUTO_MEMORY);
        for (ServedStream stream : opener.open(resources.sources())) {
            DamageCheck damageCheck = new DamageCheck(spec.onCorrupt(), counters.corrupt);
            Groups groups = new Groups(stream.name());
            StreamOrders orders = new StreamOrders(stream, opener.versions(stream.name()), memory, defaults, groups);
            FeedStream state = new FeedStream(spec, orders, groups, damageCheck, everythingHere());
            state.prepare();
            streams.put(stream.name(), state);
        }
        resources.start(spec.id(), streams.values());
    }

    private LaneMap everythingHere() {
        return LaneMap.single(
                listener.address(),
                1,
                unix().map(place -> Map.of(listener.address(), place)).orElse(Map.of()));
    }

    /** The Unix-domain socket for trainers of this machine, if there is one. */
    public Optional<UnixAddress> unix() {
        return listener.unix();
    }

    /** {@code host:port} for trainers. */
    public String address() {
        return listener.address();
    }

    /** Counts the lanes whose preferred place this process is. */
    public LongAdder lanes() {
        return lanes;
    }

    /** Returns whether the end of the feed depends on a group. */
    public boolean awaits(GroupName group) {
        return spec.awaits(group);
    }

    /** Counts a consumer of an earlier server of the feed, whose progress a reader has restored. */
    public void restore(Identity consumer) {
        consumers.restore(consumer);
    }

    /** What trainers acknowledged. */
    public AckTable acks() {
        return acks;
    }

    /** Takes over a lane map unless it is older than the present one. */
    public void updateLaneMap(String stream, LaneMap map) {
        FeedStream state = streams.get(stream);
        if (state != null && state.update(map)) {
            sessions.forEach(session -> session.tell(state, map));
        }
    }

    /** What this server remembers of a group. */
    public Optional<GroupFacts> facts(String stream, String group) {
        return Optional.ofNullable(streams.get(stream))
                .flatMap(state -> state.groups().find(group))
                .flatMap(Group::facts);
    }

    /** Returns when this server began. */
    public long startedMs() {
        return started.toEpochMilli();
    }

    /** The time in the greatest generation of the lane maps that this server was given. */
    public long mapsMadeMs() {
        return streams.values().stream()
                .mapToLong(stream -> stream.laneMap().startMs())
                .max()
                .orElse(0);
    }

    /** What this server knows of groups that are open, or were last. */
    public List<GroupFacts> facts() {
        List<GroupFacts> facts = new ArrayList<>();
        streams.values().forEach(stream -> facts.addAll(stream.facts()));
        return facts;
    }

    /** Takes over what another server knows of a group. */
    public void learn(GroupFacts facts) {
        FeedStream stream = streams.get(facts.stream());
        if (stream == null) {
            return;
        }
        try {
            stream.groups().learn(facts);
        } catch (IllegalArgumentException e) {
            LOG.warn("Cannot use another feeder's state of a group: {}", facts, e);
        }
    }

    /** Since when no trainer is connected; empty while one is. */
    public Optional<Instant> idleSince() {
        return sessions.idleSince();
    }

    /** Totals and gauges. */
    public NodeMetrics metrics() {
        OriginReads reads = resources.reads();
        return new NodeMetrics(
                counters.batches.sum(),
                counters.bytes.sum(),
                counters.rows.sum(),
                Used.of(counters.usedRows.sum(), counters.rows.sum(), counters.bytes.sum()),
                reads.reads(),
                reads.bytes(),
                reads.metadata(),
                sessions.waitedShare(),
                sessions.size(),
                counters.rejected.sum(),
                counters.nacks.sum(),
                counters.refetches.sum(),
                counters.corrupt.sum(),
                resources.windows().open(),
                resources.usedBytes(),
                resources.sources().mapped(),
                acks.pending(),
                counters.lookedUp(),
                lanes.sum());
    }

    /** How the feed stands, for people and monitoring. */
    public FeedStatus status() {
        List<FeedStatus.Group> groups = new ArrayList<>();
        streams.values().forEach(stream -> groups.addAll(stream.status()));
        return new FeedStatus(
                spec.name(),
                spec.id(),
                whole(),
                listener.address(),
                started.toEpochMilli(),
                threads.nowMs(),
                metrics(),
                tiers(),
                groups,
                resources.reads().failures());
    }

    private FeedStatus.Whole whole() {
        Set<String> feeders = new LinkedHashSet<>();
        long total = 0;
        for (FeedStream stream : streams.values()) {
            feeders.addAll(stream.laneMap().addresses());
            total += stream.defaultOrder().order().lanes();
        }
        return new FeedStatus.Whole(List.copyOf(feeders), total);
    }

    /** Has the tiers filled with a lane whose preferred place this is, if that was asked for. */
    public void warm(String stream, int lane) {
        FeedStream state = streams.get(stream);
        if (state != null && options.tiers().warm()) {
            state.defaultOrder().warm(lane);
        }
    }

    /** What holds data, fastest first, and how full it is. */
    public List<FeedStatus.Tier> tiers() {
        return resources.tiers();
    }

    /** Tells every trainer, frees the port, and waits until the sessions have ended. */
    @Override
    public void close() {
        sessions.shut();
        listener.close();
        sessions.end(ErrorCode.SHUTTING_DOWN, "feed " + spec.name() + " is ending; connect again if it restarts");
        resources.close();
    }
}

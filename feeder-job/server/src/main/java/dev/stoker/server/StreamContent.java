package dev.stoker.server;

import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.server.chunks.ChunkSources;
import dev.stoker.server.chunks.HeldChunks;
import dev.stoker.server.chunks.OriginReads;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.tiers.ChunkCache;
import dev.stoker.server.tiers.DirectBudget;
import dev.stoker.server.window.DamageCheck;
import dev.stoker.server.window.GroupOrder;
import dev.stoker.server.window.PieceBuilder;
import dev.stoker.server.window.ServedStream;
import dev.stoker.server.window.StreamVersions;
import dev.stoker.server.window.Windows;
import dev.stoker.server.window.WorkingMemory;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;

/**
 * The first stream of a feed, opened in order to build its pieces without serving trainers. It has the same chunk
 * sources, tiers, windows and checks as a node. All users in a process that ask for the same feed share it.
 * Thread-safe.
 */
public final class StreamContent implements AutoCloseable {
    /** The open streams. The monitor of the map guards the map and the lease counts. */
    private static final Map<UUID, StreamContent> OPEN = new HashMap<>();

    private final FeedSpec spec;
    private final ServerOptions options;
    private final OriginReads reads = new OriginReads();
    private final HeldChunks mappings;
    private final ChunkCache cache;
    private final ChunkSources sources;
    private final Windows windows;
    private final GroupOrder order;
    private final Optional<StreamVersions> versions;
    private final WorkingMemory memory;
    /**
     * Orders of versions other than the first. The monitor of the map guards it. Users keep a strong reference to their
     * order.
     */
    private final Map<Long, WeakReference<GroupOrder>> orders = new HashMap<>();

    private final DamageCheck damageCheck;
    private int leases = 1;

    private StreamContent(FeedSpec spec, ServerOptions options) throws IOException {
        this.spec = spec;
        this.options = options;
        this.mappings = new HeldChunks(options.maxMappings());
        this.cache = new ChunkCache(options.tiers(), mappings, reads);
        this.sources = new ChunkSources(mappings, reads, cache);
        LongAdder corrupt = new LongAdder();
        this.windows = new Windows(options.windowBytes(), spec.onCorrupt(), corrupt);
        this.damageCheck = new DamageCheck(spec.onCorrupt(), corrupt);
        try {
            DatasetStreams streams =
                    new DatasetStreams(spec.id(), spec.streams().subList(0, 1));
            ServedStream stream = streams.open(sources).get(0);
            this.versions = streams.versions(stream.name());
            this.order = new GroupOrder(stream, OrderSpec.fromJson(spec.order()));
            boolean limited = options.workingMemoryBytes() != ServerOptions.AUTO_MEMORY;
            this.memory = new WorkingMemory(options.windowBytes(), limited);
            memory.require(order, 1);
        } catch (IOException | RuntimeException e) {
            shut();
            throw e;
        }
    }

    /**
     * Opens the stream with the feed's default order, or shares it if it is open already.
     *
     * @throws IOException if it cannot be opened, or does not fit into the working memory
     */
    public static StreamContent open(FeedSpec spec, ServerOptions options) throws IOException {
        synchronized (OPEN) {
            StreamContent known = OPEN.get(spec.id());
            if (known != null) {
                known.leases++;
                return known;
            }
            StreamContent opened = new StreamContent(spec, options);
            try {
                opened.start();
            } catch (IOException | RuntimeException e) {
                opened.shut();
                throw e;
            }
            OPEN.put(spec.id(), opened);
            return opened;
        }
    }

    /** Opens the stream as {@link #open} does, but only for reading the order: without tiers, and not shared. */
    public static StreamContent look(FeedSpec spec, ServerOptions options) throws IOException {
        return new StreamContent(spec, options);
    }

    private void start() throws IOException {
        if (cache.isUsed()) {
            long bytes = options.workingMemoryBytes() != ServerOptions.AUTO_MEMORY
                    ? options.workingMemoryBytes()
                    : WorkingMemory.ofChunks(order);
            cache.start(spec.id(), chunks(), bytes, DirectBudget.here());
        }
    }

    private Set<UUID> chunks() {
        StreamChunks chunks = order.stream().chunks();
        Set<UUID> live = new HashSet<>();
        for (int i = 0; i < chunks.size(); i++) {
            if (chunks.isLive(i)) {
                live.addAll(chunks.files(i));
            }
        }
        return live;
    }

    /** Returns the order of the first version. */
    public GroupOrder order() {
        return order;
    }

    /** Returns the versions of the stream's epochs, if it follows its dataset. */
    public Optional<StreamVersions> versions() {
        return versions;
    }

    /**
     * Returns the order of a version. Only a stream that follows its dataset has versions other than the first. They
     * have the fields of the first one.
     *
     * @throws IOException if it cannot be opened, or does not fit into the working memory
     */
    public GroupOrder order(long version) throws IOException {
        if (version == order.stream().version()) {
            return order;
        }
        synchronized (orders) {
            WeakReference<GroupOrder> known = orders.get(version);
            GroupOrder found = known == null ? null : known.get();
            if (found == null) {
                // The topic says once which fields its records have.
                ServedStream stream = versions.orElseThrow().open(version);
                found = new GroupOrder(stream.with(order.stream().fields()), order.spec());
                memory.require(found, 1);
                orders.values().removeIf(reference -> reference.refersTo(null));
                orders.put(version, new WeakReference<>(found));
            }
            return found;
        }
    }

    /** Returns a builder of pieces of one of the orders. The caller must close it before closing this content. */
    public PieceBuilder builder(GroupOrder of) {
        return new PieceBuilder(of, windows, damageCheck, spec.epochs(), spec.tag());
    }

    @Override
    public void close() {
        synchronized (OPEN) {
            if (--leases > 0) {
                return;
            }
            OPEN.remove(spec.id(), this);
        }
        shut();
    }

    private void shut() {
        windows.close();
        cache.close();
        sources.close();
    }
}

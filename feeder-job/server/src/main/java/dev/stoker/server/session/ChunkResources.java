package dev.stoker.server.session;

import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.server.chunks.ChunkSources;
import dev.stoker.server.chunks.HeldChunks;
import dev.stoker.server.chunks.OriginReads;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.OnCorrupt;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.lookup.LookupMemory;
import dev.stoker.server.lookup.LookupThreads;
import dev.stoker.server.lookup.Lookups;
import dev.stoker.server.session.group.FeedStream;
import dev.stoker.server.threads.Threads;
import dev.stoker.server.tiers.ChunkCache;
import dev.stoker.server.tiers.DirectBudget;
import dev.stoker.server.tiers.files.CacheLifetime;
import dev.stoker.server.window.GroupOrder;
import dev.stoker.server.window.Windows;
import dev.stoker.server.window.WorkingMemory;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;

/** The data that a server holds in memory: mapped chunks, tiers and open windows. Thread-safe. */
final class ChunkResources implements AutoCloseable {
    /** Limit of the heads that lookups keep. */
    private static final long HEADS_OF_LOOKUPS = 64L << 20;

    /** Limit of the answers that are being sent: part of what {@link DirectBudget} leaves for sessions. */
    private static final long ANSWERS = 32L << 20;

    /** How long an answer waits for memory. */
    private static final Duration ANSWER_WAIT = Duration.ofSeconds(30);

    private final ServerOptions options;
    private final OriginReads reads = new OriginReads();
    private final ChunkCache cache;
    private final ChunkSources sources;
    private final Windows windows;
    private final Lookups lookups;

    /**
     * @param corrupt counts rows that are permanently damaged
     * @param indexes opens the sample index of a stream
     */
    ChunkResources(
            ServerOptions options, OnCorrupt onCorrupt, LongAdder corrupt, Lookups.Opener indexes, Threads threads) {
        this.options = options;
        HeldChunks mappings = new HeldChunks(options.maxMappings());
        this.cache = new ChunkCache(options.tiers(), mappings, reads);
        this.sources = new ChunkSources(mappings, reads, cache);
        this.windows = new Windows(options.windowBytes(), onCorrupt, corrupt);
        this.lookups = new Lookups(
                indexes,
                Math.min(HEADS_OF_LOOKUPS, options.windowBytes() / 4),
                new LookupMemory(Math.min(ANSWERS, options.windowBytes() / 4), ANSWER_WAIT, threads),
                new LookupThreads(threads));
    }

    /** Opens the tiers of a feed whose streams are open. */
    void start(UUID feed, Collection<FeedStream> streams) throws IOException {
        if (cache.isUsed()) {
            DirectBudget budget = DirectBudget.here();
            cache.start(feed, chunks(streams), workingBytes(streams, budget), budget);
        }
    }

    /** Returns the ids of the feed's chunks if several feeds share the cache; else an empty set. */
    private Set<UUID> chunks(Collection<FeedStream> streams) {
        Set<UUID> ids = new HashSet<>();
        if (options.tiers().lifetime() == CacheLifetime.NODE) {
            streams.forEach(state -> {
                StreamChunks chunks = state.stream().chunks();
                for (int i = 0; i < chunks.size(); i++) {
                    ids.addAll(chunks.files(i));
                }
            });
        }
        return ids;
    }

    /**
     * Returns the working memory for chunks that are not mapped: the configured amount, or what the windows of one
     * group need.
     */
    private long workingBytes(Collection<FeedStream> streams, DirectBudget budget) {
        if (options.workingMemoryBytes() != ServerOptions.AUTO_MEMORY) {
            return options.workingMemoryBytes();
        }
        long needed = 0;
        long toCome = 0;
        for (FeedStream state : streams) {
            GroupOrder order = state.defaultOrder();
            needed += WorkingMemory.ofChunks(order);
            toCome += state.follows() ? WorkingMemory.ofChunksToCome(order) : WorkingMemory.ofChunks(order);
        }
        // Reserve memory for a growing dataset, out of what the tiers would get otherwise.
        return Math.max(needed, Math.min(toCome, budget.auto(0) / 2));
    }

    /** Returns the counts of requests to the origin. */
    OriginReads reads() {
        return reads;
    }

    ChunkSources sources() {
        return sources;
    }

    Windows windows() {
        return windows;
    }

    /** Returns what answers requests for samples. */
    Lookups lookups() {
        return lookups;
    }

    /** Returns the memory used by windows and lookups, and by chunks that they need and that are in no tier. */
    long usedBytes() {
        return windows.usedBytes() + lookups.usedBytes() + cache.workingBytes();
    }

    /** Returns the places that hold data, fastest first, and how full they are. */
    List<FeedStatus.Tier> tiers() {
        List<FeedStatus.Tier> tiers = new ArrayList<>();
        tiers.add(new FeedStatus.Tier("open windows", "bytes", windows.usedBytes(), options.windowBytes()));
        if (cache.isUsed()) {
            tiers.add(new FeedStatus.Tier("chunks in use", "bytes", cache.workingBytes(), cache.workingLimit()));
        }
        tiers.add(new FeedStatus.Tier("mapped chunks", "files", sources.mapped(), options.maxMappings()));
        cache.status()
                .forEach(tier -> tiers.add(new FeedStatus.Tier(
                        tier.name(),
                        "bytes",
                        tier.usedBytes(),
                        tier.limitBytes(),
                        Optional.of(new FeedStatus.Cache(
                                tier.hits(),
                                tier.misses(),
                                tier.loads(),
                                tier.loadNanos(),
                                tier.failures(),
                                tier.off(),
                                tier.note())))));
        return tiers;
    }

    @Override
    public void close() {
        lookups.close();
        windows.close();
        cache.close();
        sources.close();
    }
}

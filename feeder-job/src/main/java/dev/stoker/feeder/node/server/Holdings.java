package dev.stoker.feeder.node.server;

import dev.stoker.feeder.node.FeedStatus;
import dev.stoker.feeder.node.OnCorrupt;
import dev.stoker.feeder.node.ServerOptions;
import dev.stoker.feeder.node.chunks.ChunkSources;
import dev.stoker.feeder.node.chunks.HeldChunks;
import dev.stoker.feeder.node.chunks.OriginReads;
import dev.stoker.feeder.node.tiers.CacheLifetime;
import dev.stoker.feeder.node.tiers.ChunkCache;
import dev.stoker.feeder.node.tiers.DirectBudget;
import dev.stoker.feeder.node.window.GroupOrder;
import dev.stoker.feeder.node.window.Windows;
import dev.stoker.feeder.node.window.WorkingMemory;
import dev.stoker.schemas.order.StreamChunks;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;

/** What a server holds of its feed's data: mapped chunks, tiers, open windows. Thread-safe. */
final class Holdings implements AutoCloseable {

    private final ServerOptions options;
    private final OriginReads reads = new OriginReads();
    private final ChunkCache cache;
    private final ChunkSources sources;
    private final Windows windows;

    /** @param corrupt counts rows that are damaged for good */
    Holdings(ServerOptions options, OnCorrupt onCorrupt, LongAdder corrupt) {
        this.options = options;
        HeldChunks mappings = new HeldChunks(options.maxMappings());
        this.cache = new ChunkCache(options.tiers(), mappings, reads);
        this.sources = new ChunkSources(mappings, reads, cache);
        this.windows = new Windows(options.windowBytes(), onCorrupt, corrupt);
    }

    /** Opens the tiers of a feed whose streams are open. */
    void start(UUID feed, Collection<StreamState> streams) throws IOException {
        if (cache.isUsed()) {
            DirectBudget budget = DirectBudget.here();
            cache.start(feed, chunks(streams), workingBytes(streams, budget), budget);
        }
    }

    /** The feed's chunks, as far as they must be known from those of other feeds. */
    private Set<UUID> chunks(Collection<StreamState> streams) {
        Set<UUID> ids = new HashSet<>();
        if (options.tiers().lifetime() == CacheLifetime.NODE) {
            streams.forEach(state -> {
                StreamChunks chunks = state.stream().chunks();
                for (int i = 0; i < chunks.size(); i++) {
                    ids.add(chunks.id(i));
                }
            });
        }
        return ids;
    }

    /** What the chunks need that are not mapped: as was said, or what the windows take of one group. */
    private long workingBytes(Collection<StreamState> streams, DirectBudget budget) {
        if (options.workingMemoryBytes() != ServerOptions.AUTO_MEMORY) {
            return options.workingMemoryBytes();
        }
        long needed = 0;
        long toCome = 0;
        for (StreamState state : streams) {
            GroupOrder order = state.defaultOrder();
            needed += WorkingMemory.ofChunks(order);
            toCome += state.follows() ? WorkingMemory.ofChunksToCome(order) : WorkingMemory.ofChunks(order);
        }
        // A dataset that grows finds room, out of what tiers would have otherwise.
        return Math.max(needed, Math.min(toCome, budget.auto(0) / 2));
    }

    /** What was asked of the origin. */
    OriginReads reads() {
        return reads;
    }

    ChunkSources sources() {
        return sources;
    }

    Windows windows() {
        return windows;
    }

    /** Of the windows, and of chunks in no tier that they need. */
    long usedBytes() {
        return windows.usedBytes() + cache.workingBytes();
    }

    /** What holds data, fastest first, and how full it is. */
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
        windows.close();
        cache.close();
        sources.close();
    }
}

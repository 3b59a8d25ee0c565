package dev.stoker.feeder.node.tiers;

import dev.stoker.feeder.node.chunks.ChunkBytes;
import dev.stoker.feeder.node.chunks.ChunkFile;
import dev.stoker.feeder.node.chunks.ChunkSource;
import dev.stoker.feeder.node.chunks.FarChunks;
import dev.stoker.feeder.node.chunks.HeldChunks;
import dev.stoker.feeder.node.chunks.OriginReads;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The cache of one feed in one process: looks for a chunk in memory, then in the tiers, and has it brought from its
 * origin if it is in none. Thread-safe.
 */
public final class ChunkCache implements FarChunks, AutoCloseable {
    /** Every try but the first finds that what was here a moment ago is gone. */
    private static final int TRIES = 8;

    private final TierOptions options;
    private final OriginReads reads;
    private final TierSetup setup;
    private final ChunkMemory memory;
    private final Loads loads;
    /** Chunks that came from an origin and have not been asked for since. */
    private final Set<UUID> fresh = ConcurrentHashMap.newKeySet();
    /** Space that was taken for chunks which are being read. */
    private final Map<UUID, Placement.Slot> slots = new ConcurrentHashMap<>();

    private volatile boolean used;
    private volatile Placement placement;

    /**
     * @param options what to keep where
     * @param mappings mapped files of the process
     * @param reads counts what is read from origins
     */
    public ChunkCache(TierOptions options, HeldChunks mappings, OriginReads reads) {
        this.options = options;
        this.reads = reads;
        this.memory = new ChunkMemory(0, this::roomMade);
        this.setup = new TierSetup(options, memory, mappings, new CacheFiles.Nio(options.access()), MemorySpace.TMPFS);
        this.placement = new Placement(memory, List.of());
        this.loads = new Loads(
                memory,
                new Loads.Bringer() {
                    @Override
                    public Optional<ChunkBytes> bring(Origin origin, ChunkFile chunk, Load.Need need)
                            throws IOException {
                        return ChunkCache.this.bring(origin, chunk, need);
                    }

                    @Override
                    public void brought(ChunkFile chunk, ChunkBytes bytes) {
                        Placement.Slot slot = slots.remove(chunk.id());
                        if (slot != null) {
                            slot.fill(bytes);
                        }
                    }
                },
                new Bandwidth(options.originBytesPerSecond(), System::nanoTime),
                options.originConcurrency());
    }

    @Override
    public ChunkSource of(ObjectStore store) {
        used = true;
        return new TieredChunks(this, new Origin(store, reads));
    }

    @Override
    public boolean servesFiles() {
        return options.tiers().isPresent() && !options.tiers().get().isEmpty();
    }

    /** Whether there are chunks that are not mapped in place. */
    public boolean isUsed() {
        return used;
    }

    /**
     * Sets the tiers up; before the first chunk is asked for.
     *
     * @param feed the feed's id
     * @param ours the feed's chunks, where a shared space needs to know
     * @param workingBytes limit of the memory for chunks that are in use or wanted and in no tier
     * @param budget what memory there is
     * @throws IOException if a tier must not be where it is to be, or memory does not suffice
     */
    public void start(UUID feed, Set<UUID> ours, long workingBytes, DirectBudget budget) throws IOException {
        memory.limit(workingBytes);
        placement = new Placement(memory, setup.tiers(feed, ours, workingBytes, budget));
    }

    private void roomMade() {
        loads.roomMade();
    }

    ChunkBytes hold(Origin origin, ChunkFile chunk) throws IOException {
        for (int i = 0; i < TRIES; i++) {
            Optional<ChunkBytes> here = memory.hold(chunk.id());
            if (here.isEmpty()) {
                here = placement.hold(chunk);
            } else {
                placement.offer(chunk, here.get());
            }
            if (here.isEmpty()) {
                here = loads.await(origin, chunk);
            }
            if (here.isPresent()) {
                return here.get();
            }
        }
        throw new IOException(origin.describe(chunk) + " does not stay in any tier");
    }

    void read(Origin origin, ChunkFile chunk, long offset, ByteBuffer target) throws IOException {
        if (!fresh.remove(chunk.id())) {
            placement.countHit(chunk);
        }
        int start = target.position();
        for (int i = 0; i < TRIES; i++) {
            Optional<ChunkBytes> here = memory.hold(chunk.id());
            if (here.isEmpty()) {
                if (placement.read(chunk, offset, target.position(start))) {
                    return;
                }
                here = loads.await(origin, chunk);
                // Whoever waited for it has asked for it.
                fresh.remove(chunk.id());
            }
            if (here.isPresent()) {
                try (ChunkBytes held = here.get()) {
                    target.position(start).put(held.bytes().slice(Math.toIntExact(offset), target.remaining()));
                    return;
                }
            }
        }
        throw new IOException(origin.describe(chunk) + " does not stay in any tier");
    }

    private Optional<ChunkBytes> bring(Origin origin, ChunkFile chunk, Load.Need need) throws IOException {
        Optional<Placement.Slot> slot = Optional.empty();
        ChunkBytes added = null;
        try {
            // It may have come since somebody asked for it.
            Optional<ChunkBytes> here = memory.hold(chunk.id());
            if (here.isPresent() || placement.find(chunk)) {
                return here;
            }
            slot = placement.reserve(chunk);
            if (slot.isPresent() && slot.get().isShared() && placement.find(chunk)) {
                return Optional.empty();
            }
            if (slot.isEmpty() && need == Load.Need.WARM) {
                return Optional.empty();
            }
            try (Incoming incoming = new Incoming(chunk, slot)) {
                boolean intact = origin.load(chunk, incoming);
                fresh.add(chunk.id());
                placement.countMiss();
                if (intact && incoming.keep()) {
                    return Optional.empty();
                }
                ByteBuffer bytes = incoming.take();
                slot.ifPresent(taken -> slots.put(chunk.id(), taken));
                added = memory.add(chunk, bytes, intact);
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
            return Optional.of(added);
        } finally {
            if (added == null) {
                slot.ifPresent(Placement.Slot::cancel);
                memory.unreserve(chunk.length());
            }
        }
    }

    void want(Origin origin, ChunkFile chunk) {
        memory.want(chunk.id());
        if (!memory.has(chunk.id()) && !placement.has(chunk)) {
            loads.enqueue(origin, chunk);
        }
    }

    void unwant(ChunkFile chunk) {
        if (memory.unwant(chunk.id())) {
            loads.cancel(chunk.id());
        }
    }

    void warm(Origin origin, ChunkFile chunk, long need) {
        if (!placement.has(chunk)) {
            loads.warm(origin, chunk, need);
        }
    }

    /**
     * As much as there is working memory for: what sessions send from, and what is brought for them. As long as chunks go straight
     * into a tier, they do not take that memory, and twice as much keeps all requests going.
     */
    long lookAheadBytes() {
        return memory.limit() + Math.min(memory.limit(), placement.roomToReceive());
    }

    boolean hasFiles() {
        return placement.hasFiles();
    }

    void forget(ChunkFile chunk) {
        memory.drop(chunk.id());
        placement.forget(chunk);
    }

    /** Bytes of chunks in working memory. */
    public long workingBytes() {
        return memory.workingBytes();
    }

    /** Limit of those. */
    public long workingLimit() {
        return memory.limit();
    }

    /** How the tiers stand, in the order in which they are filled. */
    public List<TierStatus> status() {
        return placement.status();
    }

    @Override
    public void close() {
        loads.close();
        placement.close();
        memory.close();
    }
}

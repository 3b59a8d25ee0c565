package dev.stoker.server.tiers;

import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.HeldChunks;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.chunks.OriginReads;
import dev.stoker.server.chunks.RemoteChunks;
import dev.stoker.server.tiers.files.CacheFiles;
import dev.stoker.server.tiers.files.MemorySpace;
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
 * The cache of one feed in one process. It looks for a chunk in memory, then in the tiers, and loads it from its origin
 * if none of them has it. Thread-safe.
 */
public final class ChunkCache implements RemoteChunks, AutoCloseable {
    /** Each retry finds that a chunk that was present a moment ago is gone. */
    private static final int TRIES = 8;

    private final TierOptions options;
    private final OriginReads reads;
    private final TierSetup setup;
    private final ChunkMemory memory;
    private final Loads loads;
    /** Chunks that were loaded from an origin and not requested since then. */
    private final Set<UUID> fresh = ConcurrentHashMap.newKeySet();
    /** Chunks that were erased from their datasets before the tiers were set up. */
    private final Set<UUID> erased = ConcurrentHashMap.newKeySet();
    /** Space that is reserved for chunks that are being read. */
    private final Map<UUID, Placement.Slot> slots = new ConcurrentHashMap<>();

    private volatile boolean used;
    private volatile Placement placement;

    /**
     * @param options what to keep in which tiers
     * @param mappings mapped files of the process
     * @param reads counts reads from origins
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
                    public Optional<ChunkBytes> bring(Origin origin, ListedChunk chunk, Load.Need need)
                            throws IOException {
                        return ChunkCache.this.bring(origin, chunk, need);
                    }

                    @Override
                    public void brought(ListedChunk chunk, ChunkBytes bytes) {
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

    @Override
    public void erase(Set<UUID> chunks) {
        erased.addAll(chunks);
        chunks.forEach(memory::drop);
        placement.erase(chunks);
    }

    /** Returns whether some chunks are not mapped in place. */
    public boolean isUsed() {
        return used;
    }

    /**
     * Sets the tiers up, before the first chunk is requested.
     *
     * @param feed the feed's id
     * @param ours the feed's chunks, if a shared space needs to know them
     * @param workingBytes limit of the memory for chunks that are in use or wanted and in no tier
     * @param budget the available memory
     * @throws IOException if a tier cannot be at its configured place, or memory does not suffice
     */
    public void start(UUID feed, Set<UUID> ours, long workingBytes, DirectBudget budget) throws IOException {
        memory.limit(workingBytes);
        placement = new Placement(memory, setup.tiers(feed, ours, workingBytes, budget));
        placement.erase(erased);
    }

    private void roomMade() {
        loads.roomMade();
    }

    ChunkBytes hold(Origin origin, ListedChunk chunk) throws IOException {
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
        throw new IOException(origin.describe(chunk) + " is not kept in any tier");
    }

    void read(Origin origin, ListedChunk chunk, long offset, ByteBuffer target) throws IOException {
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
                // A reader waited for it, so it has been requested.
                fresh.remove(chunk.id());
            }
            if (here.isPresent()) {
                try (ChunkBytes held = here.get()) {
                    target.position(start).put(held.bytes().slice(Math.toIntExact(offset), target.remaining()));
                    return;
                }
            }
        }
        throw new IOException(origin.describe(chunk) + " is not kept in any tier");
    }

    /** Returns whether a chunk is neither here nor in a tier, and no tier has room for it. */
    boolean isFar(ListedChunk chunk) {
        return !isNear(chunk)
                && placement.status().stream()
                        .noneMatch(
                                tier -> tier.off().isEmpty() && tier.limitBytes() - tier.usedBytes() >= chunk.length());
    }

    private Optional<ChunkBytes> bring(Origin origin, ListedChunk chunk, Load.Need need) throws IOException {
        Optional<Placement.Slot> slot = Optional.empty();
        ChunkBytes added = null;
        try {
            // It may have been loaded since the request.
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

    void want(Origin origin, ListedChunk chunk) {
        memory.want(chunk.id());
        enqueue(origin, chunk);
    }

    void use(Origin origin, ListedChunk chunk) {
        memory.use(chunk.id());
        enqueue(origin, chunk);
    }

    private void enqueue(Origin origin, ListedChunk chunk) {
        if (!isNear(chunk)) {
            loads.enqueue(origin, chunk);
        }
    }

    boolean isNear(ListedChunk chunk) {
        return memory.has(chunk.id()) || placement.has(chunk);
    }

    void unwant(ListedChunk chunk) {
        if (memory.unwant(chunk.id())) {
            loads.cancel(chunk.id());
        }
    }

    void warm(Origin origin, ListedChunk chunk, long need) {
        if (!placement.has(chunk)) {
            loads.warm(origin, chunk, need);
        }
    }

    /**
     * Returns how many bytes of chunks should be wanted ahead of their use: as much as the working memory has. Chunks
     * that go straight into a tier do not take working memory. While tiers accept them, up to twice as much keeps all
     * requests busy.
     */
    long lookAheadBytes() {
        return memory.limit() + Math.min(memory.limit(), placement.roomToReceive());
    }

    boolean hasFiles() {
        return placement.hasFiles();
    }

    void forget(ListedChunk chunk) {
        memory.drop(chunk.id());
        placement.forget(chunk);
    }

    /** Returns the bytes of chunks in working memory. */
    public long workingBytes() {
        return memory.workingBytes();
    }

    /** Returns the limit of the working memory. */
    public long workingLimit() {
        return memory.limit();
    }

    /** Returns the status of the tiers, in the order in which they are filled. */
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

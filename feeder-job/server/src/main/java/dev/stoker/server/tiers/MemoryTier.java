package dev.stoker.server.tiers;

import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.tiers.files.MemorySpace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Keeps chunks in the pool of direct memory, where they lie already: placing copies nothing. For machines on which they
 * cannot lie in files ({@link MemorySpace}), since nobody else can read them here. Thread-safe.
 */
final class MemoryTier implements Tier {
    private final ChunkMemory memory;
    private final long limitBytes;
    private final String why;
    private final TierUse use = new TierUse();
    /** Chunks with space taken for them, and its bytes; guarded by this. */
    private final Map<UUID, Integer> reserved = new HashMap<>();

    private long reservedBytes;

    /** @param why there are no files */
    MemoryTier(ChunkMemory memory, long limitBytes, String why) {
        this.why = why;
        this.memory = memory;
        this.limitBytes = limitBytes;
    }

    @Override
    public boolean has(ListedChunk chunk) {
        return memory.isKept(chunk.id());
    }

    @Override
    public boolean mayHave(ListedChunk chunk) {
        return has(chunk);
    }

    @Override
    public Optional<ChunkBytes> hold(ListedChunk chunk) {
        return has(chunk) ? memory.hold(chunk.id()) : Optional.empty();
    }

    @Override
    public boolean read(ListedChunk chunk, long offset, ByteBuffer target) {
        Optional<ChunkBytes> held = hold(chunk);
        if (held.isEmpty()) {
            return false;
        }
        try (ChunkBytes bytes = held.get()) {
            target.put(bytes.bytes().slice(Math.toIntExact(offset), target.remaining()));
            return true;
        }
    }

    @Override
    public synchronized boolean reserve(ListedChunk chunk) {
        if (memory.keptBytes() + reservedBytes + chunk.length() > limitBytes
                || has(chunk)
                || reserved.putIfAbsent(chunk.id(), chunk.length()) != null) {
            return false;
        }
        reservedBytes += chunk.length();
        return true;
    }

    @Override
    public void place(ListedChunk chunk, ChunkBytes bytes) throws IOException {
        synchronized (this) {
            boolean kept = memory.keep(chunk.id());
            cancel(chunk);
            if (!kept) {
                throw new IOException(chunk + " is no longer in memory");
            }
        }
        use.loads.increment();
    }

    @Override
    public synchronized void cancel(ListedChunk chunk) {
        Integer bytes = reserved.remove(chunk.id());
        reservedBytes -= bytes == null ? 0 : bytes;
    }

    @Override
    public boolean isInstant() {
        return true;
    }

    @Override
    public boolean hasFiles() {
        return false;
    }

    @Override
    public void forget(ListedChunk chunk) {
        memory.drop(chunk.id());
    }

    @Override
    public void erase(Set<UUID> chunks) {
        chunks.forEach(memory::drop);
    }

    @Override
    public TierUse use() {
        return use;
    }

    @Override
    public TierStatus status() {
        return new TierStatus(
                "memory",
                memory.keptBytes(),
                limitBytes,
                use.hits.sum(),
                use.misses.sum(),
                use.loads.sum(),
                use.loadNanos.sum(),
                use.failures.sum(),
                "",
                why);
    }

    /** The pool is closed by its owner. */
    @Override
    public void close() {}
}

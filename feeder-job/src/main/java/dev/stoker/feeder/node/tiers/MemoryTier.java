package dev.stoker.feeder.node.tiers;

import dev.stoker.feeder.node.chunks.ChunkBytes;
import dev.stoker.feeder.node.chunks.ChunkFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
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
    public boolean has(ChunkFile chunk) {
        return memory.isKept(chunk.id());
    }

    @Override
    public boolean mayHave(ChunkFile chunk) {
        return has(chunk);
    }

    @Override
    public Optional<ChunkBytes> hold(ChunkFile chunk) {
        return has(chunk) ? memory.hold(chunk.id()) : Optional.empty();
    }

    @Override
    public boolean read(ChunkFile chunk, long offset, ByteBuffer target) {
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
    public synchronized boolean reserve(ChunkFile chunk) {
        if (memory.keptBytes() + reservedBytes + chunk.length() > limitBytes
                || has(chunk)
                || reserved.putIfAbsent(chunk.id(), chunk.length()) != null) {
            return false;
        }
        reservedBytes += chunk.length();
        return true;
    }

    @Override
    public void place(ChunkFile chunk, ChunkBytes bytes) throws IOException {
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
    public synchronized void cancel(ChunkFile chunk) {
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
    public void forget(ChunkFile chunk) {
        memory.drop(chunk.id());
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

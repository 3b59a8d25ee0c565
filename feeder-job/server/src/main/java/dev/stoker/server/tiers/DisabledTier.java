package dev.stoker.server.tiers;

import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ListedChunk;
import java.nio.ByteBuffer;
import java.util.Optional;

/** Stands for a tier that could not be set up, and says why. */
final class DisabledTier implements Tier {
    private final String name;
    private final long limitBytes;
    private final String why;
    private final TierUse use = new TierUse();

    DisabledTier(String name, long limitBytes, String why) {
        this.name = name;
        this.limitBytes = limitBytes;
        this.why = why;
        use.failures.increment();
    }

    @Override
    public boolean has(ListedChunk chunk) {
        return false;
    }

    @Override
    public boolean mayHave(ListedChunk chunk) {
        return false;
    }

    @Override
    public Optional<ChunkBytes> hold(ListedChunk chunk) {
        return Optional.empty();
    }

    @Override
    public boolean read(ListedChunk chunk, long offset, ByteBuffer target) {
        return false;
    }

    @Override
    public boolean reserve(ListedChunk chunk) {
        return false;
    }

    @Override
    public void place(ListedChunk chunk, ChunkBytes bytes) {
        throw new IllegalStateException(name + " has no space");
    }

    @Override
    public void cancel(ListedChunk chunk) {}

    @Override
    public boolean isInstant() {
        return true;
    }

    @Override
    public boolean hasFiles() {
        return false;
    }

    @Override
    public void forget(ListedChunk chunk) {}

    @Override
    public TierUse use() {
        return use;
    }

    @Override
    public TierStatus status() {
        return new TierStatus(name, 0, limitBytes, use.hits.sum(), use.misses.sum(), 0, 0, use.failures.sum(), why, "");
    }

    @Override
    public void close() {}
}

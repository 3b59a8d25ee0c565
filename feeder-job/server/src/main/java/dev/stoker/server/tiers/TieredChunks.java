package dev.stoker.server.tiers;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.ListedChunk;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The chunks of one store, read through the node's cache. */
final class TieredChunks implements ChunkSource {
    private final ChunkCache cache;
    private final Origin origin;

    TieredChunks(ChunkCache cache, Origin origin) {
        this.cache = cache;
        this.origin = origin;
    }

    /** Reads from the whole chunk, so that its head needs no separate read. An incomplete chunk is read in parts. */
    @Override
    public void read(ListedChunk chunk, long offset, ByteBuffer target) throws IOException {
        try {
            cache.read(origin, chunk, offset, target);
        } catch (CorruptDataException e) {
            origin.read(chunk, offset, target);
        }
    }

    @Override
    public boolean isFar(ListedChunk chunk) {
        return cache.isFar(chunk);
    }

    @Override
    public void readPart(ListedChunk chunk, long offset, ByteBuffer target) throws IOException {
        if (cache.isFar(chunk)) {
            origin.read(chunk, offset, target);
        } else {
            read(chunk, offset, target);
        }
    }

    @Override
    public ChunkBytes hold(ListedChunk chunk) throws IOException {
        return cache.hold(origin, chunk);
    }

    @Override
    public void want(ListedChunk chunk) {
        cache.want(origin, chunk);
    }

    @Override
    public void use(ListedChunk chunk) {
        cache.use(origin, chunk);
    }

    @Override
    public boolean isNear(ListedChunk chunk) {
        return cache.isNear(chunk);
    }

    @Override
    public void unwant(ListedChunk chunk) {
        cache.unwant(chunk);
    }

    @Override
    public void warm(ListedChunk chunk, long need) {
        cache.warm(origin, chunk, need);
    }

    @Override
    public long lookAheadBytes() {
        return cache.lookAheadBytes();
    }

    @Override
    public boolean takesMemory() {
        return true;
    }

    @Override
    public boolean hasFiles() {
        return cache.hasFiles();
    }

    @Override
    public void forget(ListedChunk chunk) {
        cache.forget(chunk);
    }
}

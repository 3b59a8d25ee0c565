package dev.stoker.connectors.chunks;

import dev.stoker.connectors.failure.Patience;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.storage.NoSuchObjectException;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/** Writes finished chunks to their dataset. */
public final class ChunkWrites {

    /** Written by one call. A call for megabytes makes Linux copy into huge pages, two to three times as slow (measured). */
    private static final int WRITE_BYTES = 128 << 10;

    private ChunkWrites() {}

    /** As the other, for as long as a store that is away is waited for. */
    public static void write(ObjectStore store, PackedChunk chunk, Patience patience)
            throws IOException, InterruptedException {
        String name = ChunkNames.path(chunk.summary().id());
        AtomicBoolean isTried = new AtomicBoolean();
        patience.run("Writing " + store.describe(name), () -> {
            // What was tried may have been done though its answer was lost; nobody else writes this name.
            if (!isTried.getAndSet(true)
                    || !isThere(store, name, chunk.summary().length())) {
                write(store, chunk);
            }
        });
    }

    private static boolean isThere(ObjectStore store, String name, long length) throws IOException {
        try {
            return store.length(name) == length;
        } catch (NoSuchObjectException e) {
            return false;
        }
    }

    /** Writes the chunk's file; it is durable when this returns. */
    public static void write(ObjectStore store, PackedChunk chunk) throws IOException {
        try (ObjectWriter writer = store.write(ChunkNames.path(chunk.summary().id()))) {
            for (ByteBuffer buffer : chunk.buffers()) {
                for (int at = buffer.position(); at < buffer.limit(); at += WRITE_BYTES) {
                    writer.write(buffer.slice(at, Math.min(WRITE_BYTES, buffer.limit() - at)));
                }
            }
            writer.commit();
        }
    }
}

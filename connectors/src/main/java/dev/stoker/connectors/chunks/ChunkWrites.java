package dev.stoker.connectors.chunks;

import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Writes finished chunks to their dataset. */
public final class ChunkWrites {

    /** Written by one call. A call for megabytes makes Linux copy into huge pages, two to three times as slow (measured). */
    private static final int WRITE_BYTES = 128 << 10;

    private ChunkWrites() {}

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

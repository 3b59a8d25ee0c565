package dev.stoker.metadata.chunks;

import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/** Writes finished chunks to their dataset. */
public final class ChunkWrites {

    /**
     * Bytes written by one call. For calls of megabytes Linux copies into huge pages, which takes two to three times as
     * long (measured).
     */
    private static final int WRITE_BYTES = 128 << 10;

    private ChunkWrites() {}

    /** One attempt to write a chunk. */
    public interface Attempt {
        void run() throws IOException;
    }

    /** Repeats an attempt while the store is unavailable. */
    public interface Retries {
        /** @param what describes the attempt for the log */
        void run(String what, Attempt attempt) throws IOException, InterruptedException;
    }

    /** As the other method, but repeats the attempt as {@code retries} decides. */
    public static void write(ObjectStore store, PackedChunk chunk, Retries retries)
            throws IOException, InterruptedException {
        String name = ChunkNames.path(chunk.summary().id());
        AtomicBoolean isTried = new AtomicBoolean();
        retries.run("Writing " + store.describe(name), () -> {
            // An attempt may have succeeded although its answer was lost; no other writer uses this name.
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
        write(store, ChunkNames.path(chunk.summary().id()), chunk);
    }

    /** Writes the file of an overlay; it is durable when this returns. */
    public static void writeOverlay(ObjectStore store, PackedChunk overlay) throws IOException {
        write(store, ChunkNames.overlayPath(overlay.summary().id()), overlay);
    }

    private static void write(ObjectStore store, String name, PackedChunk chunk) throws IOException {
        try (ObjectWriter writer = store.write(name)) {
            for (ByteBuffer buffer : chunk.buffers()) {
                for (int at = buffer.position(); at < buffer.limit(); at += WRITE_BYTES) {
                    writer.write(buffer.slice(at, Math.min(WRITE_BYTES, buffer.limit() - at)));
                }
            }
            writer.commit();
        }
    }
}

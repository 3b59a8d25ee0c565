package dev.stoker.metadata.chunks;

import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Names and writes the chunks and overlays of one run. Any thread may use it.
 *
 * @param store of the dataset
 * @param dataset its id
 * @param run the run of the chunks
 * @param retries how to retry while the store is unavailable
 * @param created creation time of all chunks; empty for the time of each write
 * @param named gets the id of a chunk before its file is written, from the thread that writes it
 * @param ids creates the ids of the chunks
 */
public record ChunkOutput(
        ObjectStore store,
        UUID dataset,
        String run,
        ChunkWrites.Retries retries,
        Optional<Instant> created,
        Consumer<UUID> named,
        ChunkIds ids) {

    /** Chunks are created at the time of their write. */
    public ChunkOutput(ObjectStore store, UUID dataset, String run, ChunkWrites.Retries retries) {
        this(store, dataset, run, retries, Optional.empty(), id -> {}, new ChunkIds());
    }

    /** All chunks have one creation time, and an attempt is not repeated. */
    public ChunkOutput(ObjectStore store, UUID dataset, String run, Instant created, Consumer<UUID> named) {
        this(store, dataset, run, (what, attempt) -> attempt.run(), Optional.of(created), named, new ChunkIds());
    }

    /** As this one, but all chunks have one creation time. */
    public ChunkOutput createdAt(Instant time) {
        return new ChunkOutput(store, dataset, run, retries, Optional.of(time), named, ids);
    }

    /**
     * Writes a chunk of at least one row. The returned chunk is durable and refers to the builder's memory.
     *
     * @param split of the chunk
     */
    public PackedChunk write(ChunkBuilder builder, String split) throws IOException, InterruptedException {
        PackedChunk chunk = finish(builder, split, Optional.empty());
        ChunkWrites.write(store, chunk, retries);
        return chunk;
    }

    /**
     * As {@link #write}, but writes an overlay, and does not repeat the attempt.
     *
     * @param overlaid id of the chunk that the overlay belongs to
     */
    public PackedChunk writeOverlay(ChunkBuilder builder, String split, UUID overlaid) throws IOException {
        PackedChunk overlay = finish(builder, split, Optional.of(overlaid));
        ChunkWrites.writeOverlay(store, overlay);
        return overlay;
    }

    private PackedChunk finish(ChunkBuilder builder, String split, Optional<UUID> overlaid) throws IOException {
        long nowMs = System.currentTimeMillis();
        UUID id = ids.next(nowMs);
        PackedChunk chunk = builder.finish(new ChunkIdentity(
                dataset, id, run, split, created.orElseGet(() -> Instant.ofEpochMilli(nowMs)), overlaid));
        named.accept(id);
        return chunk;
    }
}

package dev.stoker.ingest.pack;

import dev.stoker.flink.failure.Patience;
import dev.stoker.metadata.chunks.ChunkWrites;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Instant;
import java.util.UUID;

/**
 * Writes the chunks of one run. Any thread may use it.
 *
 * @param store of the dataset
 * @param dataset its id
 * @param run the run of the chunks
 * @param patience how to retry while the store is unavailable
 * @param ids creates the ids of the chunks
 */
public record ChunkOutput(ObjectStore store, UUID dataset, String run, Patience patience, ChunkIds ids) {

    public ChunkOutput(ObjectStore store, UUID dataset, String run, Patience patience) {
        this(store, dataset, run, patience, new ChunkIds());
    }

    /**
     * Writes a chunk of at least one row. The returned chunk is durable and refers to the builder's memory.
     *
     * @param split of the chunk
     */
    PackedChunk write(ChunkBuilder builder, String split) throws IOException, InterruptedException {
        long nowMs = System.currentTimeMillis();
        UUID id = ids.next(nowMs);
        PackedChunk chunk = builder.finish(new ChunkIdentity(dataset, id, run, split, Instant.ofEpochMilli(nowMs)));
        ChunkWrites.write(store, chunk, (what, attempt) -> patience.run(what, attempt::run));
        return chunk;
    }
}

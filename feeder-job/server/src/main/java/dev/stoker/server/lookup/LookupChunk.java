package dev.stoker.server.lookup;

import dev.stoker.metadata.index.ConfirmedSample;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.server.chunks.ListedChunk;

/**
 * A chunk with its checked head.
 *
 * @param file its file
 * @param rows the chunk as a provider of rows, without bytes
 */
record LookupChunk(ListedChunk file, BatchChunk rows) implements ConfirmedSample.Chunk {
    /** Bytes of a parsed head beside the head's own bytes, roughly. */
    private static final int OVERHEAD_BYTES = 1024;

    @Override
    public ChunkHead head() {
        return rows.head();
    }

    static long bytes(int headLength) {
        return (long) headLength + OVERHEAD_BYTES;
    }
}

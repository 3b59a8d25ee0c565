package dev.stoker.metadata.compaction;

import java.util.OptionalLong;

/**
 * The rules that select the chunks to compact and determine the result.
 *
 * @param belowBytes a chunk with fewer live bytes is small
 * @param chunkSizeBytes length of the chunks that are written; a bigger sample gets its own chunk
 * @param shuffleSeed seed of the shuffle; empty keeps the order of the chunks and of their rows
 */
public record CompactionRules(long belowBytes, int chunkSizeBytes, OptionalLong shuffleSeed) {

    /** Chunks of the usual size that are shuffled together, and held in memory. */
    private static final long GROUP_CHUNKS = 8;

    /** The limit of a group, independent of the size of chunks. */
    private static final long GROUP_LIMIT_BYTES = 1L << 30;

    public CompactionRules {
        if (chunkSizeBytes < 1 || chunkSizeBytes > GROUP_LIMIT_BYTES) {
            throw new IllegalArgumentException(
                    "The size of chunks is " + chunkSizeBytes + "; it must be between 1 byte and 1 GiB");
        }
        if (belowBytes < 1 || belowBytes > chunkSizeBytes) {
            throw new IllegalArgumentException("Chunks below " + belowBytes
                    + " bytes cannot be compacted; it must be between 1 and the size of chunks, " + chunkSizeBytes);
        }
    }

    /** The most bytes of chunk files that are read into memory together. */
    public long groupBytes() {
        return Math.min(GROUP_LIMIT_BYTES, GROUP_CHUNKS * chunkSizeBytes);
    }
}

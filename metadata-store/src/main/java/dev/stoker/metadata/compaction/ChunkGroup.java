package dev.stoker.metadata.compaction;

import java.util.List;

/**
 * Chunks of a split that are rewritten together.
 *
 * @param split the split of all chunks
 * @param sources at least one, in the order in which their rows are read
 */
record ChunkGroup(String split, List<SourceChunk> sources) {

    ChunkGroup {
        sources = List.copyOf(sources);
    }

    /** Bytes of the files. */
    long bytes() {
        return sources.stream().mapToLong(source -> source.summary().length()).sum();
    }

    /** The approximate bytes of the result. */
    long liveBytes() {
        return sources.stream().mapToLong(SourceChunk::liveBytes).sum();
    }

    /** The approximate number of resulting chunks. */
    int targets(int chunkSizeBytes) {
        return (int) Math.max(1, (liveBytes() + chunkSizeBytes - 1) / chunkSizeBytes);
    }

    /** Whether this number of chunks would be an improvement. */
    boolean isWorth(int targets) {
        return targets < sources.size() || sources.stream().anyMatch(SourceChunk::isSparse);
    }
}

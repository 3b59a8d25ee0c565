package dev.stoker.connectors.compaction;

import java.util.List;

/**
 * Chunks of a split that are rewritten together.
 *
 * @param split of all of them
 * @param sources at least one, in the order in which their rows are taken
 */
record ChunkGroup(String split, List<SourceChunk> sources) {

    ChunkGroup {
        sources = List.copyOf(sources);
    }

    /** Bytes of the files. */
    long bytes() {
        return sources.stream().mapToLong(source -> source.summary().length()).sum();
    }

    /** What comes out of it, more or less. */
    long liveBytes() {
        return sources.stream().mapToLong(SourceChunk::liveBytes).sum();
    }

    /** Chunks that come out of it, more or less. */
    int targets(int chunkSizeBytes) {
        return (int) Math.max(1, (liveBytes() + chunkSizeBytes - 1) / chunkSizeBytes);
    }

    /** Whether so many chunks in its place are better than what there is. */
    boolean isWorth(int targets) {
        return targets < sources.size() || sources.stream().anyMatch(SourceChunk::isSparse);
    }
}

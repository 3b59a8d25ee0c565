package dev.stoker.metadata.compaction;

import java.io.Serializable;
import java.util.List;

/**
 * Chunks of a split that are rewritten together.
 *
 * @param split the split of all chunks
 * @param sources at least one, in the order in which their rows are read
 * @param need when the group is rewritten
 */
record ChunkGroup(String split, List<ReplacedChunk> sources, Need need) implements Serializable {

    private static final long serialVersionUID = 1;

    /** Says when a group is rewritten. */
    enum Need {
        /** If the result is an improvement. */
        IMPROVEMENT,
        /** Whatever the result: files of these chunks must be deleted. */
        ALWAYS
    }

    ChunkGroup {
        sources = List.copyOf(sources);
    }

    /** Bytes of the files. */
    long bytes() {
        return sources.stream().mapToLong(source -> source.summary().length()).sum();
    }

    /** The approximate bytes of the result. */
    long liveBytes() {
        return sources.stream().mapToLong(ReplacedChunk::liveBytes).sum();
    }

    /** The approximate number of resulting chunks. */
    int targets(int chunkSizeBytes) {
        return (int) Math.max(1, (liveBytes() + chunkSizeBytes - 1) / chunkSizeBytes);
    }

    /** Whether the group is rewritten into this number of chunks. */
    boolean isWorth(int targets) {
        return need == Need.ALWAYS
                || targets < sources.size()
                || sources.stream().anyMatch(ReplacedChunk::isSparse);
    }
}

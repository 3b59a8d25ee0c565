package dev.stoker.metadata.compaction;

import dev.stoker.schemas.chunk.ChunkSummary;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;

/**
 * The result of packing a group.
 *
 * @param group the source group
 * @param chunks the new chunks, durable
 * @param classes the class names that they use, by categorical field
 */
record PackedGroup(ChunkGroup group, List<ChunkSummary> chunks, Map<String, SortedSet<String>> classes) {

    PackedGroup {
        chunks = List.copyOf(chunks);
    }

    boolean isWorth() {
        return group.isWorth(chunks.size());
    }
}

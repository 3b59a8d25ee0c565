package dev.stoker.connectors.compaction;

import dev.stoker.schemas.chunk.ChunkSummary;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;

/**
 * What has become of a group.
 *
 * @param group that was rewritten
 * @param chunks in its place, durable
 * @param classes per categorical field the class names that they use
 */
record PackedGroup(ChunkGroup group, List<ChunkSummary> chunks, Map<String, SortedSet<String>> classes) {

    PackedGroup {
        chunks = List.copyOf(chunks);
    }

    boolean isWorth() {
        return group.isWorth(chunks.size());
    }
}

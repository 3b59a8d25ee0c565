package dev.stoker.connectors.chunks;

import dev.stoker.schemas.chunk.ChunkSummary;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;

/**
 * Everything that one version needs.
 *
 * @param chunks in the order in which they get their ordinals
 * @param classes per categorical field the class names used
 * @param notes numbers for the version's properties
 * @param examples texts for the version's properties
 */
record IngestCommittable(
        List<ChunkSummary> chunks,
        Map<String, SortedSet<String>> classes,
        Map<String, Long> notes,
        Map<String, String> examples) {
    IngestCommittable {
        chunks = List.copyOf(chunks);
    }
}

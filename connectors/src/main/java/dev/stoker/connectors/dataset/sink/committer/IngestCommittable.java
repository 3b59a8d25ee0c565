package dev.stoker.connectors.dataset.sink.committer;

import dev.stoker.schemas.chunk.ChunkSummary;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;

/**
 * The contents of one version.
 *
 * @param chunks in the order in which they get their ordinals
 * @param classes the class names used, by categorical field
 * @param notes numbers for the version's properties
 * @param examples texts for the version's properties
 */
public record IngestCommittable(
        List<ChunkSummary> chunks,
        Map<String, SortedSet<String>> classes,
        Map<String, Long> notes,
        Map<String, String> examples) {
    public IngestCommittable {
        chunks = List.copyOf(chunks);
    }
}

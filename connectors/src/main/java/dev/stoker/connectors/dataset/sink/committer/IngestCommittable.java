package dev.stoker.connectors.dataset.sink.committer;

import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;

/**
 * The contents of one version.
 *
 * @param part the version's place in its run
 * @param chunks in the order in which they get their ordinals
 * @param removed rows of the base version that the version will not have; single rows, in ascending ordinal
 * @param classes the class names used, by categorical field
 * @param notes numbers for the version's properties
 * @param examples texts for the version's properties
 */
public record IngestCommittable(
        Part part,
        List<ChunkSummary> chunks,
        List<RemovedRows> removed,
        Map<String, SortedSet<String>> classes,
        Map<String, Long> notes,
        Map<String, String> examples) {

    /**
     * The place of a version in its run.
     *
     * @param ingest id under which it is committed once; empty for the only version of the run that commits
     * @param isLast whether the run writes no chunk after it
     */
    public record Part(String ingest, boolean isLast) {
        /** The place of the only version of a run. */
        public static final Part ONLY = new Part("", true);

        boolean isOnly() {
            return ingest.isEmpty();
        }
    }

    public IngestCommittable {
        chunks = List.copyOf(chunks);
        removed = List.copyOf(removed);
    }

    /** Creates the only committable of a run, which removes nothing. */
    public IngestCommittable(
            List<ChunkSummary> chunks,
            Map<String, SortedSet<String>> classes,
            Map<String, Long> notes,
            Map<String, String> examples) {
        this(Part.ONLY, chunks, List.of(), classes, notes, examples);
    }
}

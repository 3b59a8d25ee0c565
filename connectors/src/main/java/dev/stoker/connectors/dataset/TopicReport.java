package dev.stoker.connectors.dataset;

import dev.stoker.schemas.chunk.ChunkSummary;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;

/**
 * The report that a packing task of a stream sends before each checkpoint. It covers all records since the last report.
 * Chunks and dead letters are durable.
 *
 * @param checkpoint number of the checkpoint
 * @param chunks in the order in which they were begun
 * @param removed keys whose samples in earlier versions are replaced or deleted
 * @param classes the class names that the chunks use, by categorical field
 * @param next the offset after the last record that the task has seen, by partition
 * @param deadLetters records that are in none of the chunks
 */
public record TopicReport(
        long checkpoint,
        List<ChunkSummary> chunks,
        List<String> removed,
        Map<String, SortedSet<String>> classes,
        SortedMap<Integer, Long> next,
        long deadLetters) {
    public TopicReport {
        chunks = List.copyOf(chunks);
        removed = List.copyOf(removed);
    }

    /** Creates a report that removes nothing. */
    public TopicReport(
            long checkpoint,
            List<ChunkSummary> chunks,
            Map<String, SortedSet<String>> classes,
            SortedMap<Integer, Long> next,
            long deadLetters) {
        this(checkpoint, chunks, List.of(), classes, next, deadLetters);
    }
}

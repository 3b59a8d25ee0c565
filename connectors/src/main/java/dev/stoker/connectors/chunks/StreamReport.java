package dev.stoker.connectors.chunks;

import dev.stoker.schemas.chunk.ChunkSummary;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;

/**
 * What a packing task of a stream tells the sink in front of each checkpoint: all that has become of the records since the last
 * report. Chunks are durable, and so are dead letters.
 *
 * @param checkpoint number of the checkpoint
 * @param chunks in the order in which they were begun
 * @param classes per categorical field the class names that they use
 * @param next by partition the offset after the last record that the task has seen
 * @param deadLetters records that are in none of the chunks
 */
public record StreamReport(
        long checkpoint,
        List<ChunkSummary> chunks,
        Map<String, SortedSet<String>> classes,
        SortedMap<Integer, Long> next,
        long deadLetters) {
    public StreamReport {
        chunks = List.copyOf(chunks);
    }
}

package dev.stoker.connectors.chunks;

import dev.stoker.schemas.chunk.ChunkSummary;
import java.util.Map;
import java.util.SortedSet;

/** What a packing task tells the sink. */
public sealed interface PackReport {

    /** The task's number. */
    int task();

    /**
     * A chunk is written and durable.
     *
     * @param task that wrote it
     * @param number of the chunk within the task, from 0 on; with the task it gives the chunks' order
     * @param chunk what the log holds of it
     */
    record Chunk(int task, int number, ChunkSummary chunk) implements PackReport {}

    /**
     * The task has packed all it was given.
     *
     * @param task that is done
     * @param tasks how many there are
     * @param chunks how many it has written
     * @param classes per categorical field the class names that its chunks use
     * @param notes numbers for the version's properties, to be summed over the tasks, by name
     * @param examples texts for the version's properties, of which the first by order is kept, by name
     */
    record Done(
            int task,
            int tasks,
            int chunks,
            Map<String, SortedSet<String>> classes,
            Map<String, Long> notes,
            Map<String, String> examples)
            implements PackReport {}
}

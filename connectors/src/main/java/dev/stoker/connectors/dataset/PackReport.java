package dev.stoker.connectors.dataset;

import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import java.util.Map;
import java.util.SortedSet;

/** A report of a packing task to the sink. */
public sealed interface PackReport {

    /** The task's number. */
    int task();

    /**
     * A chunk is written and durable.
     *
     * @param task the task that wrote it
     * @param number of the chunk within the task, from 0; task and number determine the chunks' order
     * @param chunk its entry for the log
     */
    record Chunk(int task, int number, ChunkSummary chunk) implements PackReport {}

    /**
     * Rows and files that were left out.
     *
     * @param task the number of the task
     * @param lines JSON objects, each on a line
     */
    record Skips(int task, String lines) implements PackReport {}

    /**
     * The version will not have some rows of a chunk of the dataset: new samples replace them, or the source lacks
     * them.
     *
     * @param task the number of the task
     * @param rows single rows of one chunk
     */
    record Removed(int task, RemovedRows rows) implements PackReport {}

    /**
     * A task has packed its whole input.
     *
     * @param task the number of the task
     * @param tasks the number of tasks
     * @param chunks the number of chunks that it has written
     * @param classes the class names that its chunks use, by categorical field
     * @param notes numbers for the version's properties by name, summed over the tasks
     * @param examples texts for the version's properties by name; the first in order is kept
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

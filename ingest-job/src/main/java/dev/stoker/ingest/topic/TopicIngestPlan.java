package dev.stoker.ingest.topic;

import dev.stoker.connectors.dataset.TopicRun;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The plan of a topic ingest: checked and resolved. {@link TopicIngestGraph} builds the job from it alone.
 *
 * @param pack for the packing tasks
 * @param run the ingest to commit
 * @param reading how the topic is read
 * @param lines the plan as text
 */
record TopicIngestPlan(TopicPackPlan pack, TopicRun run, Reading reading, ArrayList<String> lines)
        implements Serializable {

    private static final long serialVersionUID = 1;

    /**
     * How the topic is read.
     *
     * @param start the first offset by partition
     * @param end the offset after the last one by partition; null to read until the job is stopped
     * @param partitions their number
     * @param parallelism subtasks; 0 for Flink's configured parallelism
     * @param commitIntervalMs between versions
     */
    record Reading(
            TreeMap<Integer, Long> start,
            @Nullable TreeMap<Integer, Long> end,
            int partitions,
            int parallelism,
            long commitIntervalMs)
            implements Serializable {
        private static final long serialVersionUID = 1;

        Optional<SortedMap<Integer, Long>> stop() {
            return Optional.ofNullable(end);
        }
    }

    TopicIngestPlan(TopicPackPlan pack, TopicRun run, Reading reading, List<String> lines) {
        this(pack, run, reading, new ArrayList<>(lines));
    }

    /** The number of tasks, at most the partitions. If keys are the records' own, one task must see all of them. */
    int tasks(int configured) {
        if (run.limits().keys().areOwn()) {
            return 1;
        }
        int wanted = reading.parallelism() == 0 ? configured : reading.parallelism();
        return Math.max(1, Math.min(wanted, reading.partitions()));
    }
}

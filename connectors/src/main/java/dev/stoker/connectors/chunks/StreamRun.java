package dev.stoker.connectors.chunks;

import java.io.IOException;
import java.io.Serializable;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A stream that is ingested, as its sink sees it. Travels with the job graph.
 *
 * @param store opens the dataset's store
 * @param target where the dataset lies: an absolute path or a URI
 * @param dataset id of the dataset, as text
 * @param run id of this start of the job; with a number it is the ingest id of a version
 * @param committed where the dataset stands in the topic: by partition the next offset, empty if it has nothing of it
 * @param start where reading begins in each partition
 * @param limits what is checked at a commit
 */
public record StreamRun(
        DatasetStore store,
        String target,
        String dataset,
        String run,
        TopicPosition committed,
        TreeMap<Integer, Long> start,
        Limits limits)
        implements Serializable {
    private static final long serialVersionUID = 1;

    static final String DEAD_LETTERS = "kafka.dead_letters";

    public StreamRun {
        start = new TreeMap<>(start);
    }

    /**
     * What is checked at a commit.
     *
     * @param guard is asked in front of each commit
     * @param keys whether keys are the senders', so that others may have committed the same
     * @param baseVersion newest version when the run began
     * @param maxDeadLetters the run is given up when it has more of them
     */
    public record Limits(CommitGuard guard, Keys keys, long baseVersion, long maxDeadLetters) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    /** Who makes the samples' keys. */
    public enum Keys {
        /** They are made of topic, partition and offset; nobody else has them. */
        OFFSETS,
        /** They are the records' own. */
        RECORDS
    }

    /** Asked in front of each commit whether what was read may be committed. */
    @FunctionalInterface
    public interface CommitGuard extends Serializable {

        /** @throws IOException if not, or if that cannot be told now */
        void check() throws IOException;
    }

    /** Where the dataset stands once everything before the start counts as taken. */
    SortedMap<Integer, Long> begin() {
        TreeMap<Integer, Long> begin = new TreeMap<>(committed.next());
        begin.putAll(start);
        return begin;
    }
}

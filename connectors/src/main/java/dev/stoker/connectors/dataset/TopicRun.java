package dev.stoker.connectors.dataset;

import dev.stoker.schemas.log.LogEntry;
import java.io.IOException;
import java.io.Serializable;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A stream ingest as its sink sees it. Serialized with the job graph.
 *
 * @param store opens the dataset's store
 * @param target the dataset's location: an absolute path or a URI
 * @param dataset id of the dataset, as text
 * @param run id of this start of the job; run and number form the ingest id of a version
 * @param committed the dataset's position in the topic: the next offset by partition, empty if it has no records of the
 *     topic
 * @param start where reading begins in each partition
 * @param limits the checks at a commit
 */
public record TopicRun(
        DatasetStore store,
        String target,
        String dataset,
        String run,
        TopicPosition committed,
        TreeMap<Integer, Long> start,
        Limits limits)
        implements Serializable {
    private static final long serialVersionUID = 1;

    public static final String DEAD_LETTERS = "kafka.dead_letters";

    public TopicRun {
        start = new TreeMap<>(start);
    }

    /**
     * The checks at a commit.
     *
     * @param guard called around each commit
     * @param keys the origin of keys; if they come from records, other writers may have committed the same ones
     * @param baseVersion newest version when the run began
     * @param maxDeadLetters the run ends when it has more dead letters
     */
    public record Limits(CommitGuard guard, Keys keys, long baseVersion, long maxDeadLetters) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    /** The origin of the samples' keys. */
    public enum Keys {
        /** Keys consist of topic, partition and offset, so no other writer has them. */
        OFFSETS,
        /** Keys are the records' own keys. Two records with one key are an error. */
        RECORDS,
        /** Keys are the records' own keys. A later record replaces or deletes the sample of an earlier one. */
        CHANGES;

        /** Returns whether the records give the keys, so that one task must compare all of them. */
        public boolean areOwn() {
            return this != OFFSETS;
        }
    }

    /** Called around each commit, on the thread of the committing task. */
    @FunctionalInterface
    public interface CommitGuard extends Serializable {

        /**
         * Checks before a commit whether it is allowed.
         *
         * @throws IOException if it is not allowed, or if the check cannot be made now
         */
        void check() throws IOException;

        /** Learns of a version that is committed. A version can be reported again after a failure. */
        default void committed(LogEntry entry) {}
    }

    /** Where the dataset stands once everything before the start counts as taken. */
    public SortedMap<Integer, Long> begin() {
        TreeMap<Integer, Long> begin = new TreeMap<>(committed.next());
        begin.putAll(start);
        return begin;
    }
}

package dev.stoker.ingest.topic;

import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.connectors.kafka.TopicLocation;
import dev.stoker.connectors.kafka.source.SourceTopic;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.LogEntry;
import java.io.IOException;

/**
 * Prevents commits from a topic that was deleted and recreated, because its offsets refer to other records. Counts the
 * committed versions in the run's meter, if the committing task has one in its process.
 *
 * @param topic to read
 * @param id its id when the ingest began
 * @param run id of this start of the job
 */
record TopicGuard(TopicLocation topic, String id, String run) implements TopicRun.CommitGuard {
    private static final long serialVersionUID = 1;

    @Override
    public void check() throws IOException {
        String found;
        try (SourceTopic source = new SourceTopic(topic)) {
            found = source.shape().id();
        }
        if (!found.equals(id)) {
            throw otherTopic(topic, id, found);
        }
    }

    /** Returns the failure for a topic that is not the one from which the dataset has records. */
    static StokerException otherTopic(TopicLocation topic, String expected, String found) {
        return new StokerException("the " + topic + " has the id " + found
                + ", but the dataset has records of one with the id " + expected
                + ": it was deleted and recreated, or belongs to another cluster; nothing more is committed,"
                + " ingest it into a new dataset");
    }

    @Override
    public void committed(LogEntry entry) {
        TopicMeter.find(run).ifPresent(meter -> meter.committed(entry));
    }
}

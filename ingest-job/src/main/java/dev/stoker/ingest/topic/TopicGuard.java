package dev.stoker.ingest.topic;

import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.connectors.kafka.SourceTopic;
import dev.stoker.connectors.kafka.TopicLocation;
import java.io.IOException;

/**
 * Prevents commits from a topic that was deleted and recreated, because its offsets refer to other records.
 *
 * @param topic to read
 * @param id its id when the ingest began
 */
record TopicGuard(TopicLocation topic, String id) implements TopicRun.CommitGuard {
    private static final long serialVersionUID = 1;

    @Override
    public void check() throws IOException {
        String found;
        try (SourceTopic source = new SourceTopic(topic)) {
            found = source.shape().id();
        }
        if (!found.equals(id)) {
            throw new OtherTopicException(topic, id, found);
        }
    }
}

package dev.stoker.ingest.stream;

import dev.stoker.connectors.chunks.StreamRun;
import dev.stoker.connectors.kafka.SourceTopic;
import dev.stoker.connectors.kafka.TopicLocation;
import java.io.IOException;

/**
 * Lets nothing be committed of a topic that was deleted and created again: its offsets mean other records.
 *
 * @param topic that is read
 * @param id that it had when the ingest began
 */
record TopicGuard(TopicLocation topic, String id) implements StreamRun.CommitGuard {
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

package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.topic.TopicCheck;
import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Looks whether a topic is still the one that the feed writes to. One thread looks; any closes. */
final class TopicFeedWatch implements AutoCloseable {
    private final KafkaTarget target;
    private volatile @Nullable TopicCheck topic;
    private volatile boolean closed;

    TopicFeedWatch(KafkaTarget target) {
        this.target = target;
    }

    /**
     * Waits for the brokers.
     *
     * @return the id
     * @throws StokerException if the topic is gone, or another one
     */
    String look(String id) throws IOException {
        if (closed) {
            return id;
        }
        if (topic == null) {
            topic = new TopicCheck(target);
        }
        topic.require(id);
        return id;
    }

    @Override
    public void close() {
        closed = true;
        TopicCheck open = topic;
        if (open != null) {
            open.close();
        }
    }
}

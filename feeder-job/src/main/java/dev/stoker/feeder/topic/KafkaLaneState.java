package dev.stoker.feeder.topic;

import java.util.List;

/**
 * Checkpointed state of the enumerator.
 *
 * @param topicId the id of the topic that lanes have written to; empty before that is known
 * @param pending lanes that wait for a reader
 */
public record KafkaLaneState(String topicId, List<KafkaLane> pending) {
    public KafkaLaneState {
        pending = List.copyOf(pending);
    }
}

package dev.stoker.ingest.topic;

import dev.stoker.connectors.kafka.TopicLocation;
import dev.stoker.schemas.errors.StokerException;

/** A topic is not the one from which the dataset has records. */
final class OtherTopicException extends StokerException {

    private static final long serialVersionUID = 1;

    OtherTopicException(TopicLocation topic, String expected, String found) {
        super("the " + topic + " has the id " + found + ", but the dataset has records of one with the id " + expected
                + ": it was deleted and recreated, or belongs to another cluster; nothing more is committed,"
                + " ingest it into a new dataset");
    }
}

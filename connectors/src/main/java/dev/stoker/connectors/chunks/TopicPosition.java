package dev.stoker.connectors.chunks;

import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import java.io.IOException;
import java.io.Serializable;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A dataset's position in a topic. It is part of the properties of the log entry that commits the samples, so samples
 * and position are committed together. Normative: {@code docs/formats/dataset.md}.
 *
 * @param topic name of the topic
 * @param topicId the id of the topic; a topic that is later created under the same name has another
 * @param cluster id of the brokers' cluster, for information
 * @param next the offset after the last ingested record, by partition
 */
public record TopicPosition(String topic, String topicId, String cluster, TreeMap<Integer, Long> next)
        implements Serializable {
    private static final long serialVersionUID = 1;

    private static final String TOPIC = "kafka.topic";
    private static final String TOPIC_ID = "kafka.topic_id";
    private static final String CLUSTER = "kafka.cluster";
    private static final String NEXT = "kafka.next";

    public TopicPosition {
        next = new TreeMap<>(next);
    }

    /** The same topic at other offsets. */
    public TopicPosition at(SortedMap<Integer, Long> offsets) {
        return new TopicPosition(topic, topicId, cluster, new TreeMap<>(offsets));
    }

    /** As properties of a log entry. */
    public Map<String, String> properties() {
        return Map.of(TOPIC, topic, TOPIC_ID, topicId, CLUSTER, cluster, NEXT, text(next));
    }

    /** Offsets as text: {@code 0=17,1=4}. */
    public static String text(SortedMap<Integer, Long> offsets) {
        return offsets.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(","));
    }

    /**
     * Reads the position of a topic from a log entry.
     *
     * @throws IOException if the entry has an invalid position
     */
    static Optional<TopicPosition> of(LogEntry entry, String topic) throws IOException {
        Map<String, String> properties = entry.properties();
        if (!topic.equals(properties.get(TOPIC))) {
            return Optional.empty();
        }
        TreeMap<Integer, Long> next = new TreeMap<>();
        try {
            for (String part : properties.getOrDefault(NEXT, "").split(",")) {
                if (!part.isEmpty()) {
                    int equals = part.indexOf('=');
                    next.put(Integer.valueOf(part.substring(0, equals)), Long.valueOf(part.substring(equals + 1)));
                }
            }
        } catch (IndexOutOfBoundsException | NumberFormatException e) {
            throw new CommitRefusedException(
                    "The log entry of version " + entry.version() + " has an invalid position of the topic " + topic
                            + ": " + properties.get(NEXT),
                    e);
        }
        return Optional.of(new TopicPosition(
                topic, properties.getOrDefault(TOPIC_ID, ""), properties.getOrDefault(CLUSTER, ""), next));
    }

    /**
     * Finds the newest position of a topic in a range of versions.
     *
     * @param after only greater versions are searched
     * @param upTo a version of the dataset, or 0
     * @throws CommitRefusedException if a version in between was recovered without its properties
     */
    public static Optional<TopicPosition> find(Dataset dataset, String topic, long after, long upTo)
            throws IOException {
        for (long version = upTo; version > after; version--) {
            LogEntry entry = dataset.entry(version, upTo);
            Optional<TopicPosition> position = of(entry, topic);
            if (position.isPresent()) {
                return position;
            }
            if (entry.operation() == Operation.RECOVERED) {
                throw new CommitRefusedException("Version " + version + " of " + dataset.where()
                        + " was rebuilt from its chunks, which do not contain the position in the topic " + topic
                        + "; ingest into a new dataset");
            }
        }
        return Optional.empty();
    }
}

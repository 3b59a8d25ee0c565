package dev.stoker.connectors.dataset;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.log.LogEntry;
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
        return Map.of(LogEntry.TOPIC, topic, TOPIC_ID, topicId, CLUSTER, cluster, NEXT, text(next));
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
    public static Optional<TopicPosition> of(LogEntry entry, String topic) throws IOException {
        Map<String, String> properties = entry.properties();
        if (!entry.topic().equals(Optional.of(topic))) {
            return Optional.empty();
        }
        TreeMap<Integer, Long> next = new TreeMap<>();
        try {
            for (String part : properties.getOrDefault(NEXT, "").split(",", -1)) {
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
     * Returns the position of a topic in a version of the dataset. Reads one log entry, however many there are.
     *
     * @throws CommitRefusedException if a version behind the topic's newest was recovered without its properties
     */
    public static Optional<TopicPosition> find(Dataset dataset, Snapshot version, String topic) throws IOException {
        Optional<LogEntry> entry = newest(dataset, version, topic, 0);
        return entry.isPresent() ? of(entry.get(), topic) : Optional.empty();
    }

    /**
     * Returns the newest log entry of a topic.
     *
     * @param after looks at greater versions only
     * @throws CommitRefusedException if a version in between was recovered without its properties
     */
    public static Optional<LogEntry> newest(Dataset dataset, Snapshot base, String topic, long after)
            throws IOException {
        long version = base.table().topicVersion(topic).orElse(0);
        long recovered = base.table().recoveredVersion();
        if (recovered > Math.max(version, after)) {
            throw unknown(dataset, topic, recovered);
        }
        if (version <= after) {
            return Optional.empty();
        }
        LogEntry entry = dataset.entry(version, base.version());
        if (!entry.topic().equals(Optional.of(topic))) {
            // Recovered under the same number after the chunk table was written.
            throw unknown(dataset, topic, version);
        }
        return Optional.of(entry);
    }

    private static CommitRefusedException unknown(Dataset dataset, String topic, long version) {
        return new CommitRefusedException("Version " + version + " of " + dataset.where()
                + " was rebuilt from its chunks, which do not tell how far the topic " + topic
                + " is in it; ingest into a new dataset");
    }
}

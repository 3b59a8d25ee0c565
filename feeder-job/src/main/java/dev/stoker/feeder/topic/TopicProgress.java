package dev.stoker.feeder.topic;

import dev.stoker.feeder.topic.LaneWriter.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** How far a feed of this process has written its topic, for its owner to look at. Any thread. */
public final class TopicProgress {
    private static final Map<UUID, TopicProgress> KNOWN = new ConcurrentHashMap<>();

    /**
     * One lane, as handed to the topic's producer.
     *
     * @param lane the lane
     * @param epoch of the record that comes next
     * @param batch of the record that comes next
     * @param version of that epoch, of a feed that follows its dataset; 0 before the epoch is begun, and of others
     * @param waitsFor the consumer group that it waits for; empty for none
     */
    public record Lane(int lane, long epoch, long batch, long version, String waitsFor) {}

    /**
     * At one moment.
     *
     * @param records handed to the producer since the start, control records and repeated ones included
     * @param rows in them
     * @param bytes of their values
     * @param lanes those that something was written of, or that wait, ascending
     */
    public record Snapshot(long records, long rows, long bytes, List<Lane> lanes) {
        public Snapshot {
            lanes = List.copyOf(lanes);
        }

        /** The groups that some lane waits for. */
        public List<String> waitsFor() {
            TreeSet<String> groups = new TreeSet<>();
            lanes.forEach(lane -> groups.add(lane.waitsFor()));
            groups.remove("");
            return List.copyOf(groups);
        }
    }

    private final Map<Integer, KafkaLane> lanes = new TreeMap<>();
    private final Map<Integer, String> waiting = new TreeMap<>();
    private long records;
    private long rows;
    private long bytes;

    private TopicProgress() {}

    /** That of a feed in this process. */
    public static TopicProgress of(UUID feed) {
        return KNOWN.computeIfAbsent(feed, id -> new TopicProgress());
    }

    /** Forgets it, so that a later feed of the same id begins at nothing. */
    public static void clear(UUID feed) {
        KNOWN.remove(feed);
    }

    synchronized void wrote(Step step) {
        lanes.put(step.after().lane(), step.after());
        records++;
        rows += step.rows();
        bytes += step.record().value().length;
    }

    /** A lane waits for a group now. */
    synchronized void waits(int lane, String group) {
        waiting.put(lane, group);
    }

    /** A lane waits for nobody now. */
    synchronized void goesOn(int lane) {
        waiting.remove(lane);
    }

    /** As it is now. */
    public synchronized Snapshot snapshot() {
        TreeSet<Integer> numbers = new TreeSet<>(lanes.keySet());
        numbers.addAll(waiting.keySet());
        List<Lane> found = new ArrayList<>();
        for (int lane : numbers) {
            KafkaLane at = lanes.getOrDefault(lane, KafkaLane.fresh(lane));
            found.add(
                    new Lane(lane, at.next().epoch(), at.next().batch(), at.version(), waiting.getOrDefault(lane, "")));
        }
        return new Snapshot(records, rows, bytes, found);
    }
}

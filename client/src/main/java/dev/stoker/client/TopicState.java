package dev.stoker.client;

import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.protocol.Welcome;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/** What the trainer's thread and the receiving one share of a topic; guarded by its lock, the client's. */
final class TopicState {
    private static final Duration LOOK = Duration.ofMillis(250);

    /** What the trainer waits for. */
    record Waiting(Span span, long index, long sinceNs) {
        /** Whether it still waits. */
        boolean isOn() {
            return !span.isReady(index);
        }
    }

    /** The epoch that the trainer goes over to, where each has a version of its own. */
    record Turn(long epoch, long sinceNs) {}

    final ReentrantLock lock = new ReentrantLock();
    final Condition changed = lock.newCondition();

    /** The stream; null before the feed's first records were read. */
    TopicInfo info;

    Welcome welcome;
    /** Reads lanes from where a plan begins. */
    Function<LanePlan, TopicReading> readings;
    /** The present ones; null before the first epoch. */
    TopicReading lanes;
    /** Null while the trainer does something else. */
    Waiting waiting;
    /** Null but while the trainer goes over to an epoch. */
    Turn turn;
    /** What the trainer is told that has waited too long. */
    BatchTimeoutException late;
    /** What has ended the receiving thread. */
    RuntimeException failure;

    long bytes;
    volatile boolean isClosed;
    private final Map<Integer, Long> consumed = new TreeMap<>();
    private final Map<Integer, Long> committed = new TreeMap<>();
    private long duplicates;

    void awaitChange(TopicTarget target) {
        awaitChange(target, LOOK);
    }

    void awaitChange(TopicTarget target, Duration most) {
        try {
            changed.awaitNanos(most.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FeedException("interrupted while waiting for " + target, e);
        }
    }

    /** Reads anew from where a plan begins. */
    void read(LanePlan plan) {
        leaveLanes();
        lanes = readings.apply(plan);
        changed.signalAll();
    }

    /** Whether a piece comes with its lane, rather than by itself. */
    boolean isReadOn(long number, int lane, boolean isRepeated) {
        return !isRepeated && number < welcome.size().batches() && lanes.lanes().contains(lane);
    }

    /** Lanes that the trainer waits for. */
    Set<Integer> neededLanes() {
        return waiting == null || !waiting.isOn() ? Set.of() : new TreeSet<>(waiting.span.waitingLanes(waiting.index));
    }

    /** Records that came again. */
    long duplicates() {
        return duplicates + (lanes == null ? 0 : lanes.duplicates());
    }

    /** Everything before these offsets, by lane, is consumed. */
    void passBy(Map<Integer, Long> offsets) {
        offsets.forEach((lane, offset) -> consumed.merge(lane, offset, Math::max));
    }

    /** Nothing of what is read on is wanted any more. */
    void leaveLanes() {
        noteProgress();
        duplicates = duplicates();
        lanes = null;
    }

    private void noteProgress() {
        if (lanes != null) {
            lanes.progress().forEach((lane, offset) -> consumed.merge(lane, offset, Math::max));
        }
    }

    /** What was consumed since this was last asked for: by lane the offset after it. */
    Map<Integer, Long> uncommitted() {
        noteProgress();
        Map<Integer, Long> changes = new TreeMap<>(consumed);
        changes.entrySet().removeAll(committed.entrySet());
        committed.putAll(changes);
        return changes;
    }

    /** What {@link #uncommitted} gave did not arrive. */
    void lost(Map<Integer, Long> progress) {
        committed.entrySet().removeAll(progress.entrySet());
    }
}

package dev.stoker.client.topic;

import dev.stoker.client.errors.BatchTimeoutException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.source.LanePlan;
import dev.stoker.client.source.Span;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.protocol.Welcome;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The state of a topic that the trainer's thread and the receiving thread share; guarded by the client's lock. */
final class TopicState {
    private static final Duration LOOK = Duration.ofMillis(250);

    /** The batch that the trainer waits for. */
    record Waiting(Span span, long index, long sinceNs) {
        /** Whether it still waits. */
        boolean isOn() {
            return !span.isReady(index);
        }
    }

    /** The epoch that the trainer switches to, for a feed whose epochs have separate versions. */
    record EpochChange(long epoch, long sinceNs) {}

    final ReentrantLock lock = new ReentrantLock();
    final Condition changed = lock.newCondition();

    /** The stream; null before the feed's first records were read. */
    @Nullable
    TopicInfo info;

    @Nullable
    Welcome welcome;
    /** Creates a reading that begins where a plan begins. */
    @Nullable
    Function<LanePlan, TopicReading> readings;
    /** The present reading; null before the first epoch. */
    @Nullable
    TopicReading lanes;
    /** Null while the trainer does not wait. */
    @Nullable
    Waiting waiting;
    /** Null except while the trainer switches to an epoch. */
    @Nullable
    EpochChange epochChange;
    /** The error for a trainer that has waited too long. */
    @Nullable
    BatchTimeoutException late;
    /** The failure that ended the receiving thread. */
    @Nullable
    RuntimeException failure;

    long bytes;
    volatile boolean isClosed;
    private final Map<Integer, Long> consumed = new TreeMap<>();
    private final Map<Integer, Long> committed = new TreeMap<>();
    private long duplicates;

    void awaitChange(TopicTarget target) {
        awaitChange(target, LOOK);
    }

    @SuppressWarnings("WaitNotInLoop") // Callers loop.
    void awaitChange(TopicTarget target, Duration most) {
        try {
            changed.awaitNanos(most.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FeedException("interrupted while waiting for " + target, e);
        }
    }

    /** Returns the stream, after the feed's first records were read. */
    TopicInfo info() {
        return Objects.requireNonNull(info, "the stream is described");
    }

    /** Returns the stream, after the feed's first records were read. */
    Welcome welcome() {
        return Objects.requireNonNull(welcome, "the stream is described");
    }

    /** Returns the present reading, after the first epoch has begun. */
    TopicReading reading() {
        return Objects.requireNonNull(lanes, "an epoch has begun");
    }

    /** Starts a new reading where a plan begins. */
    void read(LanePlan plan) {
        leaveLanes();
        lanes = Objects.requireNonNull(readings, "the stream is described").apply(plan);
        changed.signalAll();
    }

    /** Whether a piece is read in sequence with its lane, rather than looked up separately. */
    boolean isReadOn(long number, int lane, boolean isRepeated) {
        return !isRepeated
                && number < welcome().size().batches()
                && reading().lanes().contains(lane);
    }

    /** Lanes that the trainer waits for. */
    Set<Integer> neededLanes() {
        return waiting == null || !waiting.isOn() ? Set.of() : new TreeSet<>(waiting.span.waitingLanes(waiting.index));
    }

    /** Number of repeated records. */
    long duplicates() {
        return duplicates + (lanes == null ? 0 : lanes.duplicates());
    }

    /** Notes that everything before these offsets, by lane, is consumed. */
    void passBy(Map<Integer, Long> offsets) {
        offsets.forEach((lane, offset) -> consumed.merge(lane, offset, Math::max));
    }

    /** Stops reading the lanes in sequence. */
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

    /** The progress since the last call: the offset after the consumed records, by lane. */
    Map<Integer, Long> uncommitted() {
        noteProgress();
        Map<Integer, Long> changes = new TreeMap<>(consumed);
        changes.entrySet().removeAll(committed.entrySet());
        committed.putAll(changes);
        return changes;
    }

    /** Notes that a commit of progress from {@link #uncommitted} did not arrive. */
    void lost(Map<Integer, Long> progress) {
        committed.entrySet().removeAll(progress.entrySet());
    }
}

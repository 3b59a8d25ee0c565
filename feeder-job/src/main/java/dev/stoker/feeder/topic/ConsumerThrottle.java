package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.topic.GroupOffsets;
import dev.stoker.connectors.kafka.topic.TopicReader;
import dev.stoker.flink.failure.Patience;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordPosition;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps lanes close to the slowest of some consumer groups. A thread reads the committed offsets of the groups a few
 * times a second. While the brokers do not answer, the limits stay unchanged.
 */
final class ConsumerThrottle implements ThrottleGate {
    private static final long LOOK_NANOS = 300_000_000L;

    /** The state of a lane. Its monitor guards it, except for fields that only the reading thread uses. */
    private static final class Progress {
        /** The last epoch that may be written. */
        long lastEpoch = -1;
        /** The first and the last epoch that was requested. */
        long first = -1;

        long asked;
        /** The end of the partition at the last check, and the epoch that its last record leads to. */
        long end = -1;

        long reached;
        /** Bytes in the topic, from a batch on, that consumers had not read at the last check. */
        long unread;
        /**
         * Bytes written since the last check began, and between that check and the previous one. They may not be in the
         * topic yet.
         */
        long made;

        long madeBefore;
        long recordBytes;
        long records;
        /** The group with the smallest committed offset. */
        String slowest = "";
        /**
         * The committed offset of that group at the last check, and the furthest record before it so far; null for
         * none.
         */
        long committed = -1;

        @Nullable
        RecordPosition consumed;
    }

    private final KafkaTarget target;
    private final TopicFeedPlan.Throttle throttle;
    private final int lanes;
    private final TopicProgress told;
    private final Runnable changed;
    private final Consumer<Exception> failed;
    private final Map<Integer, Progress> known = new ConcurrentHashMap<>();
    private final Thread thread;
    private volatile boolean closed;

    /**
     * @param lanes partitions of the topic
     * @param told is told which group a lane waits for
     * @param changed is called after each check
     * @param failed is told when checks are no longer possible
     */
    ConsumerThrottle(
            KafkaTarget target,
            TopicFeedPlan.Throttle throttle,
            int lanes,
            TopicProgress told,
            Runnable changed,
            Consumer<Exception> failed) {
        this.target = target;
        this.throttle = throttle;
        this.lanes = lanes;
        this.told = told;
        this.changed = changed;
        this.failed = failed;
        this.thread = new Thread(this::look, "stoker-kafka-throttle");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public boolean allows(int lane, RecordPosition next) {
        long epoch = next.epoch();
        Progress progress = progress(lane);
        synchronized (progress) {
            progress.first = progress.first < 0 ? epoch : progress.first;
            progress.asked = epoch;
            // At least one record is allowed; otherwise a limit below the size of a record would block the lane for
            // ever.
            long ahead = progress.unread + progress.made + progress.madeBefore;
            boolean isNear = epoch <= progress.lastEpoch
                    && (throttle.bytesAhead() == 0 || ahead == 0 || ahead < throttle.bytesAhead() / lanes);
            // A restarted feed writes some records again. Nobody reads them if all consumers have read them already and
            // left.
            boolean isAllowed = isNear || isConsumed(progress, next);
            if (isAllowed) {
                told.goesOn(lane);
            } else if (progress.lastEpoch >= 0) {
                told.waits(lane, progress.slowest);
            }
            return isAllowed;
        }
    }

    private static boolean isConsumed(Progress progress, RecordPosition next) {
        return progress.consumed != null && next.compareTo(progress.consumed) <= 0;
    }

    @Override
    public void wrote(int lane, int bytes) {
        Progress progress = progress(lane);
        synchronized (progress) {
            progress.made += bytes;
            progress.recordBytes += bytes;
            progress.records++;
        }
    }

    private Progress progress(int lane) {
        return known.computeIfAbsent(lane, l -> new Progress());
    }

    private void look() {
        try {
            // The command has reached the brokers before, so the configuration is right and the brokers are
            // unavailable.
            Patience.endlessAfterRestore().run("Reading the offsets of the groups " + throttle.groups(), this::lookOn);
        } catch (InterruptedException e) {
            // Closed.
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException e) {
            if (!closed) {
                failed.accept(e);
            }
        } catch (Error e) {
            // Without checks, lanes that wait for their consumers would wait for ever.
            if (!closed) {
                failed.accept(new IllegalStateException(
                        "Reading the offsets of" + " the groups " + throttle.groups() + " failed: " + e, e));
            }
        }
    }

    private void lookOn() throws IOException {
        try (GroupOffsets groups = new GroupOffsets(target, throttle.groups());
                TopicReader reader = TopicReader.ofAll(target);
                TopicReader seen = new TopicReader(target)) {
            while (!closed) {
                Map<Integer, GroupOffsets.Slowest> slowest = groups.slowest(lanes);
                for (int lane : known.keySet()) {
                    look(
                            lane,
                            Objects.requireNonNull(slowest.get(lane), "each lane has a slowest group"),
                            reader,
                            seen);
                }
                changed.run();
                LockSupport.parkNanos(LOOK_NANOS);
            }
        }
    }

    /**
     * @param reader reads all records
     * @param seen reads the records that consumers can see
     */
    private void look(int lane, GroupOffsets.Slowest slowest, TopicReader reader, TopicReader seen) throws IOException {
        Progress progress = progress(lane);
        synchronized (progress) {
            if (progress.first < 0) {
                return;
            }
            progress.madeBefore = progress.made;
            progress.made = 0;
        }
        long end = reader.end(lane);
        long from = Math.max(slowest.offset(), reader.begin(lane));
        Optional<RecordHeader> next = from >= end ? Optional.empty() : reader.at(lane, from);
        // Consumers that wait for a batch need not have read the records before it, and cannot read aborted records.
        long batch = next.isEmpty() ? end : seen.firstBatch(lane, from);
        Optional<RecordHeader> had = Optional.empty();
        if (slowest.offset() != progress.committed && slowest.offset() > 0) {
            had = seen.before(lane, Math.min(slowest.offset(), end));
        }
        long reached = next.isPresent() ? epochOf(next.get()) : reached(lane, end, progress, reader);
        synchronized (progress) {
            long mean = progress.records == 0 ? target.maxRecordBytes() : progress.recordBytes / progress.records;
            progress.slowest = slowest.group();
            progress.committed = slowest.offset();
            had.map(RecordHeader::position)
                    .filter(position -> !isConsumed(progress, position))
                    .ifPresent(position -> progress.consumed = position);
            progress.unread = Math.max(0, end - batch) * mean;
            progress.lastEpoch = reached + throttle.epochsAhead();
        }
    }

    /**
     * Returns the epoch reached by consumers that have read everything; records requested since then may not be written
     * yet.
     */
    private static long reached(int lane, long end, Progress progress, TopicReader reader) throws IOException {
        if (end != progress.end) {
            Optional<RecordHeader> last = reader.last(lane);
            synchronized (progress) {
                // A partition without records was never written, or all of its records were deleted.
                progress.reached =
                        last.map(ConsumerThrottle::epochOf).orElse(end == 0 ? progress.first : progress.asked);
                progress.end = end;
            }
        }
        return progress.reached;
    }

    private static long epochOf(RecordHeader header) {
        return header.kind() == RecordKind.EPOCH_END ? header.epoch() + 1 : header.epoch();
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        thread.interrupt();
    }
}

package dev.stoker.client.topic;

import dev.stoker.client.errors.BatchTimeoutException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.source.ClientOptions;
import dev.stoker.client.transport.Buffers;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.protocol.Welcome;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The thread that reads a topic: it reads the lanes of the present reading sequentially, and looks up single pieces for
 * which the trainer waits. Commits consumed offsets for monitoring.
 */
final class TopicReceiver implements Runnable {
    private static final long COMMIT_NS = TimeUnit.SECONDS.toNanos(2);
    private static final Duration SHORT = Duration.ofMillis(20);

    private final TopicTarget target;
    private final ClientOptions options;
    private final TopicLog looking;
    private final TopicLog stream;
    private final TopicState state;
    private final Buffers buffers;
    private @Nullable EpochBoundary boundary;
    private @Nullable CrossLaneReader crossLanes;
    private @Nullable TopicSearch search;
    private long commitAtNs = System.nanoTime();

    /**
     * Takes ownership of the logs.
     *
     * @param looking for single records
     * @param stream for sequential reading
     */
    TopicReceiver(
            TopicTarget target,
            ClientOptions options,
            TopicLog looking,
            TopicLog stream,
            TopicState state,
            Buffers buffers) {
        this.target = target;
        this.options = options;
        this.looking = looking;
        this.stream = stream;
        this.state = state;
        this.buffers = buffers;
    }

    @Override
    public void run() {
        try (looking;
                stream) {
            open();
            while (!state.isClosed) {
                step();
            }
            stream.commitAndWait(uncommitted());
        } catch (RuntimeException | Error e) {
            // Catches errors too: only this thread can tell the trainer, which would otherwise wait for ever.
            state.lock.lock();
            try {
                state.failure = e instanceof FeedException known ? known : new FeedException(target + ": " + e, e);
                state.changed.signalAll();
            } finally {
                state.lock.unlock();
            }
        }
    }

    private void open() {
        TopicOpening opening = new TopicOpening(target, options, looking, () -> state.isClosed);
        TopicInfo found = opening.read();
        state.lock.lock();
        try {
            search = new TopicSearch(target, looking, options.batchTimeout(), () -> state.isClosed);
            boundary = new EpochBoundary(target, options, opening, search, state);
            adopt(found);
            if (found.follows()) {
                // Valid until the trainer names the epoch that it reads.
                state.welcome = state.welcome().following(OptionalLong.empty());
            }
        } finally {
            state.lock.unlock();
        }
    }

    /** Adopts the description from a control record; under the lock. */
    private void adopt(TopicInfo info) {
        state.info = info;
        TopicSearch search = Objects.requireNonNull(this.search, "open() sets it");
        search.guess(info);
        Welcome welcome = TopicOpening.welcome(info, options.run());
        TopicPieces pieces = new TopicPieces(target, info, options.viewOrWhole(welcome), buffers);
        crossLanes = new CrossLaneReader(state, search, pieces, options.bufferBytes() / 4);
        state.readings = plan -> new TopicReading(plan, pieces, stream, search, options.bufferBytes() / 2);
        state.welcome = welcome;
        state.changed.signalAll();
    }

    @SuppressWarnings("ReferenceEquality") // Each change is one object.
    private void change(TopicState.EpochChange change) {
        Optional<TopicInfo> found =
                Objects.requireNonNull(boundary, "open() sets it").look(change);
        commit();
        state.lock.lock();
        try {
            if (state.epochChange == change && found.isPresent()) {
                adopt(found.get());
                state.epochChange = null;
            } else if (state.epochChange == change) {
                state.awaitChange(target);
            }
        } finally {
            state.lock.unlock();
        }
    }

    private CrossLaneReader crossLanes() {
        return Objects.requireNonNull(crossLanes, "open() sets it");
    }

    private void step() {
        Optional<Map<Integer, RecordPosition>> from = Optional.empty();
        List<CrossLaneReader.Sought> sought = List.of();
        TopicReading now;
        TopicState.EpochChange change;
        state.lock.lock();
        try {
            change = state.epochChange;
        } finally {
            state.lock.unlock();
        }
        if (change != null) {
            change(change);
            return;
        }
        state.lock.lock();
        try {
            now = state.lanes;
            if (now == null) {
                state.awaitChange(target);
                return;
            }
            if (now.isBegun()) {
                now.resume(state.neededLanes());
                sought = crossLanes().sought();
                judge();
            } else {
                from = Optional.of(now.wanted());
            }
            if (now.isBegun() && !now.isAssigned() && sought.isEmpty()) {
                state.awaitChange(target);
            }
        } finally {
            state.lock.unlock();
        }
        from.ifPresent(now::begin);
        boolean isTaken = crossLanes().take(sought);
        if (now.isAssigned()) {
            receive(now, isTaken ? Duration.ZERO : SHORT);
        } else if (!sought.isEmpty() && !isTaken) {
            rest();
        }
        if (System.nanoTime() - commitAtNs >= 0) {
            commitAtNs = System.nanoTime() + COMMIT_NS;
            commit();
        }
    }

    /** Pauses because the wanted records are not written yet. */
    private void rest() {
        state.lock.lock();
        try {
            state.awaitChange(target, SHORT);
        } finally {
            state.lock.unlock();
        }
    }

    private void receive(TopicReading now, Duration most) {
        TopicLog.Found found = stream.poll(most);
        for (int lane : found.lost()) {
            now.resync(lane, wanted(now, lane), Optional.empty());
        }
        Set<Integer> resynced = new TreeSet<>();
        for (TopicLog.Entry entry : found.entries()) {
            if (resynced.contains(entry.partition())) {
                continue; // The records after a gap are read again.
            }
            VerifiedRecord record = VerifiedRecord.of(target, entry);
            Optional<VerifiedRecord> ahead;
            state.lock.lock();
            try {
                if (now != state.lanes) {
                    return;
                }
                state.bytes += record.value().length;
                ahead = now.take(record);
                state.changed.signalAll();
            } finally {
                state.lock.unlock();
            }
            if (ahead.isPresent()) {
                now.resync(entry.partition(), wanted(now, entry.partition()), ahead);
                resynced.add(entry.partition());
            }
        }
    }

    private Optional<RecordPosition> wanted(TopicReading now, int lane) {
        state.lock.lock();
        try {
            return now.wanted(lane);
        } finally {
            state.lock.unlock();
        }
    }

    /** Checks whether the trainer has waited too long. */
    private void judge() {
        TopicState.Waiting waiting = state.waiting;
        if (waiting == null
                || !waiting.isOn()
                || System.nanoTime() - waiting.sinceNs()
                        <= options.batchTimeout().toNanos()) {
            return;
        }
        int lane = waiting.span().waitingLanes(waiting.index()).get(0);
        String at = state.reading()
                .seen(lane)
                .map(position -> "the last position in the partition was " + position)
                .orElse("nothing arrived from the partition");
        state.late = new BatchTimeoutException(
                target + ": epoch " + waiting.span().range().epoch() + " batch "
                        + waiting.span().number(waiting.index()) + " did not arrive from partition " + lane + " within "
                        + options.batchTimeout().toMillis() + " ms: " + at + stream.trouble()
                        + ". Check that the feed is running and is not waiting for another group of its"
                        + " --throttle-groups, or raise batchTimeout");
        state.changed.signalAll();
    }

    private void commit() {
        Map<Integer, Long> progress = uncommitted();
        if (!progress.isEmpty()) {
            stream.commit(progress, () -> lost(progress));
        }
    }

    /** Notes that a commit was lost, so that the progress is committed again. */
    private void lost(Map<Integer, Long> progress) {
        state.lock.lock();
        try {
            state.lost(progress);
        } finally {
            state.lock.unlock();
        }
    }

    private Map<Integer, Long> uncommitted() {
        state.lock.lock();
        try {
            return state.uncommitted();
        } finally {
            state.lock.unlock();
        }
    }
}

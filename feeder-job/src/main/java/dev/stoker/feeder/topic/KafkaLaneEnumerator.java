package dev.stoker.feeder.topic;

import dev.stoker.feeder.registry.JobClaim;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.flink.failure.Outages;
import dev.stoker.flink.failure.Patience;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.util.FlinkRuntimeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out where lanes begin, once, and gives each to the reader of its number; then looks now and then whether the
 * topic is still there, since a feed that waits for consumers writes nothing that would fail. All methods run on the
 * coordinator's thread, which never waits for brokers.
 */
final class KafkaLaneEnumerator implements SplitEnumerator<KafkaLane, KafkaLaneState> {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaLaneEnumerator.class);
    private static final long LOOK_MS = 5_000;

    private final SplitEnumeratorContext<KafkaLane> context;
    private final JobClaim claim;
    private final TopicFeedWatch watch;
    private final Patience.Call<KafkaLaneState> start;
    private final TreeMap<Integer, KafkaLane> pending = new TreeMap<>();
    private String topicId = "";

    /**
     * @param claim of the feed's name
     * @param start finds out where lanes begin; may wait
     */
    KafkaLaneEnumerator(
            SplitEnumeratorContext<KafkaLane> context,
            JobClaim claim,
            TopicFeedWatch watch,
            Patience.Call<KafkaLaneState> start) {
        this.context = context;
        this.claim = claim;
        this.watch = watch;
        this.start = start;
    }

    @Override
    public void start() {
        context.callAsync(
                () -> {
                    claim.make();
                    return Patience.endlessAfterRestore().call("Reading where the lanes begin", start);
                },
                this::begin);
    }

    private void begin(KafkaLaneState found, Throwable failure) {
        if (failure != null) {
            throw failed(failure);
        }
        topicId = found.topicId();
        found.pending().forEach(lane -> pending.put(lane.lane(), lane));
        context.registeredReaders().keySet().forEach(this::assign);
        String id = topicId;
        context.callAsync(() -> watch.look(id), this::looked, LOOK_MS, LOOK_MS);
    }

    private void looked(String id, Throwable failure) {
        if (FailureKind.of(failure) == FailureKind.FINAL) {
            throw failed(failure);
        }
        if (failure == null) {
            Outages.clear(this);
        } else {
            Outages.note(this, String.valueOf(failure.getMessage()));
            LOG.debug("Cannot check whether the topic {} exists; trying again", id, failure);
        }
    }

    private static FlinkRuntimeException failed(Throwable failure) {
        boolean isFinal = FailureKind.of(failure) == FailureKind.FINAL;
        return new FlinkRuntimeException(
                failure.getMessage(), isFinal ? new SuppressRestartsException(failure) : failure);
    }

    @Override
    public void handleSplitRequest(int subtaskId, String requesterHostname) {
        // Lanes are given out, not asked for.
    }

    @Override
    public void addSplitsBack(List<KafkaLane> splits, int subtaskId) {
        splits.forEach(lane -> pending.put(lane.lane(), lane));
        if (context.registeredReaders().containsKey(subtaskId)) {
            assign(subtaskId);
        }
    }

    @Override
    public void addReader(int subtaskId) {
        if (!topicId.isEmpty()) {
            assign(subtaskId);
        }
    }

    private void assign(int reader) {
        List<KafkaLane> mine = new ArrayList<>();
        for (KafkaLane lane : List.copyOf(pending.values())) {
            if (lane.lane() % context.currentParallelism() == reader) {
                mine.add(pending.remove(lane.lane()));
            }
        }
        mine.forEach(lane -> context.assignSplit(lane, reader));
        context.signalNoMoreSplits(reader);
    }

    @Override
    public KafkaLaneState snapshotState(long checkpointId) {
        return new KafkaLaneState(topicId, new ArrayList<>(pending.values()));
    }

    @Override
    public void close() throws IOException {
        Outages.clear(this);
        watch.close();
        claim.close();
        // Choices of versions may lie in a remote store.
        ClassLoaderCleanup.now();
    }
}

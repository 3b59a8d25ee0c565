package dev.stoker.feeder.kafka;

import dev.stoker.connectors.kafka.TopicGoneException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * Finds out where lanes begin, once, and gives each to the reader of its number. All methods run on the coordinator's thread,
 * which never waits for brokers.
 */
final class KafkaLaneEnumerator implements SplitEnumerator<KafkaLane, KafkaLaneState> {
    private final SplitEnumeratorContext<KafkaLane> context;
    private final Callable<KafkaLaneState> start;
    private final TreeMap<Integer, KafkaLane> pending = new TreeMap<>();
    private String topicId = "";

    /** @param start finds out where lanes begin; may wait */
    KafkaLaneEnumerator(SplitEnumeratorContext<KafkaLane> context, Callable<KafkaLaneState> start) {
        this.context = context;
        this.start = start;
    }

    @Override
    public void start() {
        context.callAsync(start, this::begin);
    }

    private void begin(KafkaLaneState found, Throwable failure) {
        if (failure != null) {
            Throwable cause = failure instanceof TopicGoneException ? new SuppressRestartsException(failure) : failure;
            throw new FlinkRuntimeException(failure.getMessage(), cause);
        }
        topicId = found.topicId();
        found.pending().forEach(lane -> pending.put(lane.lane(), lane));
        context.registeredReaders().keySet().forEach(this::assign);
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
        // Nothing is open.
    }
}

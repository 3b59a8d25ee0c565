package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.TopicRecord;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.feeder.topic.LaneWriter.Step;
import dev.stoker.flink.failure.FailureKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.core.io.InputStatus;

/**
 * Emits the records of its lanes. A lane's state follows the record that was emitted last.
 *
 * <p>All methods run on the task's mailbox thread, which never waits: neither for consumers nor for the origin.
 */
final class KafkaLaneReader implements SourceReader<TopicRecord, KafkaLane> {
    private final LanePump pump;
    private final StopSignal stop;
    private final TopicProgress progress;
    private final Map<Integer, KafkaLane> lanes = new TreeMap<>();
    private final Availability availability;
    private boolean complete;

    /** Completes a future when there is something to do; any thread. */
    static final class Availability implements Runnable {
        private CompletableFuture<Void> future = new CompletableFuture<>();

        @Override
        public void run() {
            CompletableFuture<Void> done;
            synchronized (this) {
                done = future;
            }
            done.complete(null);
        }

        synchronized CompletableFuture<Void> fresh() {
            if (future.isDone()) {
                future = new CompletableFuture<>();
            }
            return future;
        }
    }

    KafkaLaneReader(LanePump pump, StopSignal stop, TopicProgress progress, Availability availability) {
        this.pump = pump;
        this.stop = stop;
        this.progress = progress;
        this.availability = availability;
    }

    @Override
    public void start() {
        stop.listen(availability);
        pump.start();
    }

    @Override
    public InputStatus pollNext(ReaderOutput<TopicRecord> output) throws Exception {
        if (stop.isRequested()) {
            return InputStatus.END_OF_INPUT;
        }
        Step step;
        try {
            step = pump.poll();
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
        if (step == null) {
            return complete && pump.isDone() ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
        }
        output.collect(step.record());
        lanes.put(step.after().lane(), step.after());
        progress.wrote(step);
        return InputStatus.MORE_AVAILABLE;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        CompletableFuture<Void> future = availability.fresh();
        if (stop.isRequested() || (pump.hasNews() && (complete || !pump.isDone()))) {
            future.complete(null);
        }
        return future;
    }

    @Override
    public List<KafkaLane> snapshotState(long checkpointId) {
        return new ArrayList<>(lanes.values());
    }

    @Override
    public void addSplits(List<KafkaLane> splits) {
        for (KafkaLane split : splits) {
            lanes.put(split.lane(), split);
            pump.add(split);
        }
        availability.run();
    }

    @Override
    public void notifyNoMoreSplits() {
        complete = true;
        availability.run();
    }

    @Override
    public void close() {
        stop.forget(availability);
        pump.close();
    }
}

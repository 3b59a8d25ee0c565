package dev.stoker.feeder.simulation;

import dev.stoker.feeder.ledger.LedgerEncoder;
import dev.stoker.feeder.ledger.LedgerProgress;
import dev.stoker.feeder.ledger.SimulatedLedger;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.source.reader.LaneReader;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.feeder.source.split.LaneSplit;
import dev.stoker.feeder.source.split.LaneSplitSerializer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.metrics.groups.SourceReaderMetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.util.UserCodeClassLoader;

/** One attempt of a subtask: the lane reader and the ledger writer behind it, driven as by Flink's mailbox thread. */
final class Task {
    private static final LaneSplitSerializer SPLITS = new LaneSplitSerializer();

    /** The state of a subtask in a checkpoint. */
    record State(List<byte[]> splits, List<byte[]> ledger) {
        static final State EMPTY = new State(List.of(), List.of());
    }

    /** The JobManager as a task reaches it. Dead JobManagers receive nothing. */
    interface Reports {
        void registered(Task task, List<LaneSplit> splits);

        void event(Task task, SourceEvent event);

        void acknowledged(Task task, long checkpoint, State state);

        void failed(Task task, Throwable why);

        void finished(Task task);
    }

    /** Ends the thread of a task that was cancelled. */
    private static final class Cancelled extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    final int subtask;
    final TaskManager machine;
    final SimulatedProcess process;
    private final Simulation simulation;
    private final FeedPlan plan;
    private final SimulatedStore store;
    private final Reports reports;
    private final State restored;
    private final Deque<Runnable> mailbox = new ArrayDeque<>();
    private SimulatedProcess.Waiter waiter;
    private boolean available;
    private long mailNanos;

    private LaneReader reader;
    private SimulatedLedger ledger;
    private boolean inputEnded;
    private long lastCheckpoint = Long.MAX_VALUE;
    private boolean finished;

    Task(Cluster cluster, int subtask, TaskManager machine, FeedPlan plan, State restored, Reports reports) {
        this.simulation = cluster.simulation();
        this.store = cluster.ledger();
        this.subtask = subtask;
        this.machine = machine;
        this.process = machine.process();
        this.plan = plan;
        this.restored = restored;
        this.reports = reports;
        process.start("task " + subtask, this::run);
    }

    @Override
    public String toString() {
        return "task " + subtask + " on " + process.name();
    }

    // ---- from the JobManager, in order

    private void mail(Runnable action) {
        mailNanos = Math.max(mailNanos, simulation.nowNanos() + simulation.between(50, 2_000) * Simulation.MICRO);
        simulation.after(mailNanos - simulation.nowNanos(), process, "mail", () -> {
            mailbox.add(action);
            wake();
        });
    }

    void assign(List<byte[]> splits) {
        mail(() -> reader.addSplits(decode(splits)));
    }

    void event(SourceEvent event) {
        mail(() -> reader.handleSourceEvents(event));
    }

    void noMoreSplits() {
        mail(() -> reader.notifyNoMoreSplits());
    }

    void checkpoint(long id) {
        mail(() -> snapshot(id));
    }

    void completed(long id) {
        mail(() -> {
            reader.notifyCheckpointComplete(id);
            finished = id >= lastCheckpoint;
        });
    }

    void aborted(long id) {
        mail(() -> reader.notifyCheckpointAborted(id));
    }

    void cancel() {
        mail(() -> {
            throw new Cancelled();
        });
    }

    /** Makes the task fail with an internal error. */
    void fail() {
        mail(() -> {
            throw new IllegalStateException("a fault of the simulation");
        });
    }

    // ---- the thread

    private void wake() {
        available = true;
        if (waiter != null) {
            waiter.wake();
        }
    }

    private void run() {
        try {
            open();
            while (!finished) {
                Runnable mail = mailbox.poll();
                if (mail != null) {
                    mail.run();
                } else {
                    work();
                }
            }
            close();
            reports.finished(this);
        } catch (SimulatedProcess.Killed e) {
            if (ledger != null) {
                ledger.vanish();
            }
            throw e;
        } catch (Cancelled e) {
            close();
        } catch (Throwable e) {
            simulation.trace(toString(), "fails: " + e);
            close();
            reports.failed(this, e);
        }
    }

    private void open() throws IOException {
        ledger = new SimulatedLedger(plan.id(), subtask, store.of(process), process, restored.ledger);
        reader = new LaneReader(
                new Context(),
                machine::lease,
                new LedgerEncoder(plan),
                StopSignal.of(plan.id()),
                () -> LedgerProgress.published(plan.id(), subtask));
        reports.registered(this, decode(restored.splits));
        reader.start();
    }

    private void work() throws Exception {
        InputStatus status = inputEnded ? InputStatus.NOTHING_AVAILABLE : reader.pollNext(new Output());
        if (status == InputStatus.END_OF_INPUT) {
            simulation.trace(toString(), "comes to its end");
            ledger.flush(true);
            inputEnded = true;
            return;
        }
        if (status == InputStatus.MORE_AVAILABLE) {
            return;
        }
        available = false;
        if (!inputEnded) {
            CompletableFuture<Void> more = reader.isAvailable();
            CompletableFuture<Void> unused = more.whenComplete((done, failure) -> wake());
            if (more.isDone()) {
                process.sleep(100 * Simulation.MICRO);
                return;
            }
        }
        if (mailbox.isEmpty() && !available) {
            waiter = process.waiter();
            waiter.await("mail or receipts", -1);
            waiter = null;
        }
    }

    private void snapshot(long id) {
        try {
            ledger.flush(false);
            List<byte[]> splits = encode(reader.snapshotState(id));
            List<byte[]> files = ledger.snapshot(id);
            if (inputEnded && lastCheckpoint == Long.MAX_VALUE) {
                lastCheckpoint = id;
            }
            reports.acknowledged(this, id, new State(splits, files));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void close() {
        if (reader != null) {
            reader.close();
            machine.released();
        }
        if (ledger != null) {
            ledger.close();
        }
        finished = true;
    }

    static List<byte[]> encode(List<LaneSplit> splits) {
        List<byte[]> bytes = new ArrayList<>();
        try {
            for (LaneSplit split : splits) {
                bytes.add(SPLITS.serialize(split));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes;
    }

    static List<LaneSplit> decode(List<byte[]> bytes) {
        List<LaneSplit> splits = new ArrayList<>();
        try {
            for (byte[] split : bytes) {
                splits.add(SPLITS.deserialize(SPLITS.getVersion(), split));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return splits;
    }

    private final class Output implements ReaderOutput<byte[]> {
        @Override
        public void collect(byte[] entry) {
            ledger.write(entry);
        }

        @Override
        public void collect(byte[] entry, long timestamp) {
            collect(entry);
        }

        @Override
        public void emitWatermark(Watermark watermark) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void markIdle() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void markActive() {
            throw new UnsupportedOperationException();
        }

        @Override
        public SourceOutput<byte[]> createOutputForSplit(String splitId) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void releaseOutputForSplit(String splitId) {
            throw new UnsupportedOperationException();
        }
    }

    private final class Context implements SourceReaderContext {
        @Override
        public SourceReaderMetricGroup metricGroup() {
            return UnregisteredMetricsGroup.createSourceReaderMetricGroup();
        }

        @Override
        public Configuration getConfiguration() {
            return new Configuration();
        }

        @Override
        public String getLocalHostName() {
            return machine.address();
        }

        @Override
        public int getIndexOfSubtask() {
            return subtask;
        }

        @Override
        public void sendSplitRequest() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void sendSourceEventToCoordinator(SourceEvent event) {
            reports.event(Task.this, event);
        }

        @Override
        public UserCodeClassLoader getUserCodeClassLoader() {
            throw new UnsupportedOperationException();
        }
    }
}

package dev.stoker.feeder.simulation;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.source.enumerator.FeedEnumeratorState;
import dev.stoker.feeder.source.enumerator.FeedEnumeratorStateSerializer;
import dev.stoker.feeder.source.enumerator.SimulatedEnumerators;
import dev.stoker.feeder.source.split.LaneSplit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import org.apache.flink.api.connector.source.ReaderInfo;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.SplitsAssignment;
import org.apache.flink.metrics.groups.SplitEnumeratorMetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.source.coordinator.SplitAssignmentTracker;

/**
 * A model of Flink's JobManager for this job: it deploys tasks, restarts failed tasks, coordinates checkpoints, and
 * hosts the enumerator. Its durable state is in {@link Storage}.
 */
final class JobManager implements Task.Reports {
    private static final FeedEnumeratorStateSerializer STATES = new FeedEnumeratorStateSerializer();
    private static final long CHECKPOINT_TIMEOUT_NANOS = 20 * Simulation.SECOND;
    /** As the job's own settings have it. */
    private static final int MAX_RESTARTS = 10;

    /** A checkpoint that completed. */
    private record Completed(long id, byte[] coordinator, Map<Integer, Task.State> tasks) {}

    /** What outlives a JobManager. */
    static final class Storage {
        private Completed last;
        private long checkpoints;
        private int restarts;
        boolean isFinished;

        boolean hasCheckpoint() {
            return last != null;
        }

        /** Loses the checkpoint, as a process does that keeps it in memory. */
        void lose() {
            last = null;
        }
    }

    private static final class Pending {
        final long id;
        final byte[] coordinator;
        final Map<Integer, Task.State> acknowledged = new TreeMap<>();

        Pending(long id, byte[] coordinator) {
            this.id = id;
            this.coordinator = coordinator;
        }
    }

    private final Cluster cluster;
    private final Simulation simulation;
    private final FeedPlan plan;
    private final int parallelism;
    private final long intervalNanos;
    private final Storage storage;
    final SimulatedProcess process;

    private final SplitEnumerator<LaneSplit, FeedEnumeratorState> enumerator;
    private final SplitAssignmentTracker<LaneSplit> tracker = new SplitAssignmentTracker<>();
    private final Map<Integer, ReaderInfo> registered = new TreeMap<>();
    private final Map<Integer, Task> tasks = new TreeMap<>();
    private final Map<Integer, Task> ended = new TreeMap<>();
    private final Map<Task, Long> reportNanos = new HashMap<>();
    private Pending pending;
    private final double abortChance;

    JobManager(
            Cluster cluster,
            String name,
            FeedPlan plan,
            int parallelism,
            long intervalNanos,
            double aborts,
            Storage storage) {
        this.cluster = cluster;
        this.simulation = cluster.simulation();
        this.plan = plan;
        this.parallelism = parallelism;
        this.intervalNanos = intervalNanos;
        this.abortChance = aborts;
        this.storage = storage;
        this.process = new SimulatedProcess(simulation, name);
        Optional<FeedEnumeratorState> state = Optional.empty();
        try {
            if (storage.last != null) {
                state = Optional.of(STATES.deserialize(STATES.getVersion(), storage.last.coordinator));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.enumerator = SimulatedEnumerators.create(
                plan, new Context(), state, simulation.nowMs(), cluster::published, cluster::wasPublished);
        simulation.trace(name, "starts at checkpoint " + (storage.last == null ? "none" : storage.last.id));
        enumerator.start();
        for (int subtask = 0; subtask < parallelism; subtask++) {
            deploy(subtask);
        }
        simulation.after(intervalNanos, process, "checkpoint", this::trigger);
    }

    // ---- deployment

    private void deploy(int subtask) {
        List<TaskManager> machines = cluster.machines();
        if (machines.isEmpty()) {
            simulation.after(200 * Simulation.MILLI, process, "deploy", () -> deploy(subtask));
            return;
        }
        TaskManager machine = simulation.chance(0.8)
                ? machines.get(subtask % machines.size())
                : machines.get((int) simulation.between(0, machines.size() - 1));
        Task.State state =
                storage.last == null ? Task.State.EMPTY : storage.last.tasks.getOrDefault(subtask, Task.State.EMPTY);
        Task task = new Task(cluster, subtask, machine, plan, state, this);
        simulation.trace(process.name(), "deploys " + task);
        tasks.put(subtask, task);
        task.process.onKill(() -> simulation.after(
                simulation.between(50, 1_500) * Simulation.MILLI,
                process,
                "lost",
                () -> restart(task, "its TaskManager died")));
    }

    private void restart(Task task, String why) {
        if (tasks.get(task.subtask) != task || ended.containsKey(task.subtask)) {
            return;
        }
        simulation.trace(process.name(), task + " failed: " + why);
        tasks.remove(task.subtask);
        registered.remove(task.subtask);
        if (++storage.restarts > MAX_RESTARTS) {
            simulation.fail(new AssertionError("the job failed: " + task + " " + why + ", and no restarts are left"));
            return;
        }
        abort("a task failed");
        long restored = storage.last == null ? -1 : storage.last.id;
        enumerator.addSplitsBack(tracker.getAndRemoveUncheckpointedAssignment(task.subtask, restored), task.subtask);
        simulation.after(
                simulation.between(100, 500) * Simulation.MILLI, process, "restart", () -> deploy(task.subtask));
    }

    /** Cancels all tasks of a dead JobManager. */
    void cancelAll() {
        tasks.values().forEach(Task::cancel);
    }

    Task anyTask() {
        List<Task> running = new ArrayList<>(tasks.values());
        running.removeIf(task -> !task.process.isAlive() || ended.containsKey(task.subtask));
        return running.isEmpty() ? null : running.get((int) simulation.between(0, running.size() - 1));
    }

    boolean isEnding() {
        return !ended.isEmpty();
    }

    // ---- checkpoints

    private void trigger() {
        simulation.after(intervalNanos, process, "checkpoint", this::trigger);
        if (pending != null || tasks.size() < parallelism || registered.size() < parallelism - ended.size()) {
            return;
        }
        long id = ++storage.checkpoints;
        try {
            pending = new Pending(id, STATES.serialize(enumerator.snapshotState(id)));
            tracker.onCheckpoint(id);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        Pending begun = pending;
        tasks.values().stream().filter(task -> !ended.containsKey(task.subtask)).forEach(task -> task.checkpoint(id));
        simulation.after(CHECKPOINT_TIMEOUT_NANOS, process, "checkpoint time-out", () -> {
            if (pending == begun) {
                abort("it took too long");
            }
        });
    }

    private void abort(String why) {
        if (pending != null) {
            simulation.trace(process.name(), "aborts checkpoint " + pending.id + ": " + why);
            long id = pending.id;
            pending = null;
            tasks.values().forEach(task -> task.aborted(id));
            try {
                enumerator.notifyCheckpointAborted(id);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private void complete() throws Exception {
        long id = pending.id;
        if (simulation.chance(abortChance)) {
            abort("its storage failed");
            return;
        }
        Map<Integer, Task.State> states = new TreeMap<>(pending.acknowledged);
        ended.keySet().forEach(subtask -> states.putIfAbsent(subtask, Task.State.EMPTY));
        storage.last = new Completed(id, pending.coordinator, states);
        pending = null;
        simulation.trace(process.name(), "completes checkpoint " + id);
        tracker.onCheckpointComplete(id);
        enumerator.notifyCheckpointComplete(id);
        tasks.values().stream().filter(task -> !ended.containsKey(task.subtask)).forEach(task -> task.completed(id));
    }

    // ---- reports of tasks, in the order of each task

    private void report(Task task, Runnable action) {
        long at = Math.max(
                reportNanos.getOrDefault(task, 0L),
                simulation.nowNanos() + simulation.between(50, 2_000) * Simulation.MICRO);
        reportNanos.put(task, at);
        simulation.after(at - simulation.nowNanos(), process, "report", () -> {
            if (tasks.get(task.subtask) == task) {
                action.run();
            }
        });
    }

    @Override
    public void registered(Task task, List<LaneSplit> splits) {
        report(task, () -> {
            registered.put(task.subtask, ReaderInfo.createReaderInfo(task.subtask, task.machine.address(), splits));
            enumerator.addReader(task.subtask);
        });
    }

    @Override
    public void event(Task task, SourceEvent event) {
        report(task, () -> enumerator.handleSourceEvent(task.subtask, event));
    }

    @Override
    public void acknowledged(Task task, long checkpoint, Task.State state) {
        report(task, () -> {
            if (pending != null && pending.id == checkpoint) {
                pending.acknowledged.put(task.subtask, state);
                if (pending.acknowledged.size() >= parallelism - ended.size()) {
                    try {
                        complete();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                }
            }
        });
    }

    @Override
    public void failed(Task task, Throwable why) {
        report(task, () -> restart(task, String.valueOf(why)));
    }

    @Override
    public void finished(Task task) {
        report(task, () -> {
            simulation.trace(process.name(), task + " has finished");
            ended.put(task.subtask, task);
            registered.remove(task.subtask);
            if (pending != null) {
                abort("a task finished");
            }
            if (ended.size() == parallelism) {
                storage.isFinished = true;
                cluster.jobFinished();
            }
        });
    }

    /** Returns the progress that the coordinator knows, for the report of a failure. */
    String describe() {
        StringBuilder text = new StringBuilder();
        try {
            enumerator
                    .snapshotState(0)
                    .progress()
                    .forEach(known ->
                            text.append("  coordinator knows ").append(known).append('\n'));
        } catch (Exception e) {
            text.append(e);
        }
        return text.toString();
    }

    // ---- for the enumerator

    private final class Context implements SplitEnumeratorContext<LaneSplit> {
        @Override
        public SplitEnumeratorMetricGroup metricGroup() {
            return UnregisteredMetricsGroup.createSplitEnumeratorMetricGroup();
        }

        @Override
        public void sendEventToSourceReader(int subtask, SourceEvent event) {
            if (tasks.containsKey(subtask)) {
                tasks.get(subtask).event(event);
            }
        }

        @Override
        public int currentParallelism() {
            return parallelism;
        }

        @Override
        public Map<Integer, ReaderInfo> registeredReaders() {
            return Collections.unmodifiableMap(new TreeMap<>(registered));
        }

        @Override
        public void assignSplits(SplitsAssignment<LaneSplit> assignment) {
            tracker.recordSplitAssignment(assignment);
            assignment.assignment().forEach((subtask, splits) -> {
                if (tasks.containsKey(subtask)) {
                    tasks.get(subtask).assign(Task.encode(splits));
                }
            });
        }

        @Override
        public void signalNoMoreSplits(int subtask) {
            simulation.trace(process.name(), "has subtask " + subtask + " end");
            cluster.feedEnds();
            if (tasks.containsKey(subtask)) {
                tasks.get(subtask).noMoreSplits();
            }
        }

        @Override
        public <T> void callAsync(Callable<T> call, BiConsumer<T, Throwable> handler) {
            simulation.after(simulation.between(1, 20) * Simulation.MILLI, process, "async", () -> {
                try {
                    handler.accept(virtual(call.call()), null);
                } catch (Exception e) {
                    handler.accept(null, e);
                }
            });
        }

        /** The only number that the enumerator asks for is the wall clock's. */
        @SuppressWarnings("unchecked")
        private <T> T virtual(T result) {
            return result instanceof Long ? (T) Long.valueOf(simulation.nowMs()) : result;
        }

        @Override
        public <T> void callAsync(
                Callable<T> call, BiConsumer<T, Throwable> handler, long initialDelayMs, long periodMs) {
            simulation.after(initialDelayMs * Simulation.MILLI, process, "tick", () -> {
                callAsync(call, handler);
                callAsync(call, handler, periodMs, periodMs);
            });
        }

        @Override
        public void runInCoordinatorThread(Runnable action) {
            simulation.after(0, process, "coordinator", action);
        }
    }
}

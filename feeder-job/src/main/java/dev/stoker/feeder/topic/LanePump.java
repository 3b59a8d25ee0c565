package dev.stoker.feeder.topic;

import dev.stoker.feeder.topic.LaneWriter.Step;
import dev.stoker.flink.failure.Patience;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Builds the records of a reader's lanes ahead of the reader, on a separate thread. It takes one piece of each lane in
 * turn, if the throttle allows it and the queue has room. Only the reader's thread calls the methods; the lock guards
 * the queues.
 */
final class LanePump implements AutoCloseable {
    private static final long IDLE_MS = 200;

    /** The resources of a pump, which its thread opens and closes. */
    interface Work extends AutoCloseable {
        TopicEpochs epochs();

        ThrottleGate throttle();

        /** Returns the state from which each lane resumes in the present topic. May wait for brokers. */
        List<KafkaLane> resume(List<KafkaLane> lanes) throws IOException;

        @Override
        void close();
    }

    private final Patience.Call<Work> opener;
    private final OptionalLong epochs;
    private final long queueBytes;
    private final Runnable available;
    private final Thread thread;
    /**
     * Owned by the thread: lanes that were added and not resumed yet, and for each lane the state after all queued
     * records.
     */
    private final List<KafkaLane> begun = new ArrayList<>();

    private final Map<Integer, KafkaLane> positions = new TreeMap<>();
    private final Queue<KafkaLane> added = new ArrayDeque<>();
    private final Queue<Step> ready = new ArrayDeque<>();
    private long readyBytes;
    private int running;
    private @Nullable Throwable failure;
    private boolean closed;

    /**
     * @param opener opens the resources of the thread
     * @param epochs number of epochs after which lanes are done
     * @param queueBytes bytes of records built ahead
     * @param available called by the thread when the reader should poll again
     */
    LanePump(Patience.Call<Work> opener, OptionalLong epochs, long queueBytes, Runnable available) {
        this.opener = opener;
        this.epochs = epochs;
        this.queueBytes = queueBytes;
        this.available = available;
        this.thread = new Thread(this::run, "stoker-kafka-lanes");
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Adds a lane to those that the pump writes. */
    synchronized void add(KafkaLane lane) {
        added.add(lane);
        running++;
        notifyAll();
    }

    /** Returns the next record, or null if none is ready. */
    synchronized @Nullable Step poll() throws IOException {
        Step step = ready.poll();
        if (step == null) {
            raise();
            return null;
        }
        readyBytes -= step.record().value().length;
        notifyAll();
        return step;
    }

    /** Returns whether a record is ready, or an error or the end must be reported. */
    synchronized boolean hasNews() {
        return !ready.isEmpty() || failure != null || running == 0;
    }

    /** Returns whether all lanes are written and handed out. */
    synchronized boolean isDone() {
        return running == 0 && ready.isEmpty() && failure == null;
    }

    /** Checks again whether the throttle allows more. Any thread may call it. */
    synchronized void wake() {
        notifyAll();
    }

    private void raise() throws IOException {
        if (failure instanceof IOException e) {
            throw e;
        }
        if (failure instanceof RuntimeException e) {
            throw e;
        }
        if (failure != null) {
            throw new IOException("Cannot build records", failure);
        }
    }

    /** Fails the reader, unless it is closed. Any thread may call it. */
    void fail(Throwable e) {
        synchronized (this) {
            failure = closed ? null : e;
        }
        available.run();
    }

    private void run() {
        try {
            // The command has reached the brokers and the dataset before, so they are unavailable. Open everything
            // again.
            Patience.endlessAfterRestore().run("Making records", () -> {
                try (Work work = opener.run()) {
                    pump(work);
                }
            });
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Throwable e) {
            fail(e);
        }
    }

    private void pump(Work work) throws IOException, InterruptedException {
        List<LaneWriter> lanes = new ArrayList<>();
        positions.values().forEach(lane -> lanes.add(new LaneWriter(work.epochs(), lane, epochs)));
        while (true) {
            synchronized (this) {
                if (closed) {
                    return;
                }
                begun.addAll(added);
                added.clear();
            }
            if (!begun.isEmpty()) {
                for (KafkaLane lane : work.resume(begun)) {
                    positions.put(lane.lane(), lane);
                    lanes.add(new LaneWriter(work.epochs(), lane, epochs));
                }
                begun.clear();
            }
            boolean moved = false;
            for (Iterator<LaneWriter> each = lanes.iterator(); each.hasNext(); ) {
                LaneWriter lane = each.next();
                if (lane.isDone()) {
                    each.remove();
                    positions.remove(lane.lane());
                    synchronized (this) {
                        running--;
                    }
                    available.run();
                    continue;
                }
                if (lane.isOwed() || work.throttle().allows(lane.lane(), lane.at())) {
                    moved = true;
                    for (Step step : lane.next()) {
                        work.throttle().wrote(lane.lane(), step.record().value().length);
                        if (!put(step)) {
                            return;
                        }
                        positions.put(lane.lane(), step.after());
                    }
                }
            }
            if (!moved) {
                synchronized (this) {
                    if (added.isEmpty() && !closed) {
                        wait(IDLE_MS);
                    }
                }
            }
        }
    }

    /** Waits for room in the queue. Returns false after the pump was closed. */
    private boolean put(Step step) throws InterruptedException {
        synchronized (this) {
            while (!closed && readyBytes > 0 && readyBytes + step.record().value().length > queueBytes) {
                wait();
            }
            if (closed) {
                return false;
            }
            ready.add(step);
            readyBytes += step.record().value().length;
        }
        available.run();
        return true;
    }

    /** Ends the thread and waits for it, unless the caller is interrupted. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        thread.interrupt();
        try {
            thread.join(10_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

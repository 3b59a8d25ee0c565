package dev.stoker.feeder.kafka;

import dev.stoker.connectors.failure.Patience;
import dev.stoker.feeder.kafka.LaneWriter.Step;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.TreeMap;

/**
 * Builds the records of a reader's lanes ahead, on a thread of its own: one piece of each lane in turn, as far as the pace
 * allows and the queue has room. The methods are for the reader's thread; the lock guards the queues.
 */
final class LanePump implements AutoCloseable {
    private static final long IDLE_MS = 200;

    /** What a pump works with; made and closed by its thread. */
    interface Work extends AutoCloseable {
        TopicEpochs epochs();

        PaceGate pace();

        /** Lanes as they go on in the topic that there is; may wait for brokers. */
        List<KafkaLane> resume(List<KafkaLane> lanes) throws IOException;

        @Override
        void close();
    }

    private final Patience.Call<Work> opener;
    private final OptionalLong epochs;
    private final long queueBytes;
    private final Runnable available;
    private final Thread thread;
    /** The thread's own: lanes that were added and are not resumed yet, and by lane what comes after all that is queued. */
    private final List<KafkaLane> begun = new ArrayList<>();

    private final Map<Integer, KafkaLane> positions = new TreeMap<>();
    private final Queue<KafkaLane> added = new ArrayDeque<>();
    private final Queue<Step> ready = new ArrayDeque<>();
    private long readyBytes;
    private int running;
    private Throwable failure;
    private boolean closed;

    /**
     * @param opener opens what the thread works with
     * @param epochs after which lanes are done
     * @param queueBytes bytes of records built ahead
     * @param available is called by the thread when the reader should look again
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

    /** Writes a lane, too. */
    synchronized void add(KafkaLane lane) {
        added.add(lane);
        running++;
        notifyAll();
    }

    /** The next record, or null if none is ready. */
    synchronized Step poll() throws IOException {
        Step step = ready.poll();
        if (step == null) {
            raise();
            return null;
        }
        readyBytes -= step.record().value().length;
        notifyAll();
        return step;
    }

    /** Whether something is ready, or an error is to be told. */
    synchronized boolean hasNews() {
        return !ready.isEmpty() || failure != null || running == 0;
    }

    /** Whether all lanes are written and handed out. */
    synchronized boolean isDone() {
        return running == 0 && ready.isEmpty() && failure == null;
    }

    /** Looks again whether the pace allows more; any thread. */
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
            throw new IOException("records cannot be made", failure);
        }
    }

    /** Fails the reader, unless it is closed; any thread. */
    void fail(Throwable e) {
        synchronized (this) {
            failure = closed ? null : e;
        }
        available.run();
    }

    private void run() {
        try {
            // The command has reached brokers and dataset: they are away, not wrong. Then all is opened again.
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
                if (lane.isOwed() || work.pace().allows(lane.lane(), lane.at())) {
                    moved = true;
                    for (Step step : lane.next()) {
                        work.pace().wrote(lane.lane(), step.record().value().length);
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

    /** Waits for room; false once closed. */
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

    /** Ends the thread and waits for it, unless it is interrupted meanwhile. */
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

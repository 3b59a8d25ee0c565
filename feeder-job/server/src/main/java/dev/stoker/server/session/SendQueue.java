package dev.stoker.server.session;

import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.GetSamples;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.server.window.PieceKey;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of a session's sender: control frames, the subscription with its grant, and pieces to repeat. The queue is
 * bounded; if a peer sends requests faster than it reads the answers, the session stops reading from it. Thread-safe.
 */
final class SendQueue {
    private static final int MAX_FRAMES = 32;
    private static final int MAX_NACKS = 256;

    /** One task of the sender. */
    sealed interface Task {}

    /** Writes a frame. */
    record Control(Frame frame) implements Task {}

    /** Tells the trainer the count of durable receipts. */
    record TellDurable() implements Task {}

    /** Checks a piece and sends it again. */
    record Repeat(Nack nack, Subscription subscription) implements Task {}

    /** Sends a piece. */
    record Send(PieceKey piece, Subscription subscription) implements Task {}

    /** Answers a request for samples. */
    record Answer(Frame request) implements Task {}

    /** Ends a subscription after its last batch. */
    record End(Subscription subscription) implements Task {}

    private final Lock lock;
    private final Condition changed;
    private final ArrayDeque<Frame> frames = new ArrayDeque<>();
    private final ArrayDeque<Nack> nacks = new ArrayDeque<>();
    /** Requests for samples; the first one is the request that is being answered. */
    private final ArrayDeque<Frame> requests = new ArrayDeque<>();

    private boolean answering;
    private @Nullable Subscription subscription;
    private @Nullable LaneMap laneMap;
    private boolean durable;
    private @Nullable Frame last;
    /** Whether the sender has taken a frame that may not be written yet. */
    private boolean inHand;

    private boolean closed;

    /** @param lock guards all fields; nobody else uses it */
    SendQueue(Lock lock) {
        this.lock = lock;
        this.changed = lock.newCondition();
    }

    /**
     * Waits for a task. Control frames precede repeats, and repeats precede data. Only for the sender thread, which
     * owns the cursor of the subscription.
     *
     * @param onIdle called before waiting
     * @return the task, or null if the session has ended
     */
    @Nullable
    Task take(Runnable onIdle) throws InterruptedException {
        lock.lock();
        try {
            inHand = false;
            if (answering) {
                answering = false;
                requests.remove();
            }
            while (!closed) {
                Task task = next();
                if (task != null) {
                    inHand = task instanceof Control;
                    return task;
                }
                onIdle.run();
                changed.await();
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Task next() {
        Frame frame = frames.poll();
        if (frame != null) {
            changed.signalAll();
            return new Control(frame);
        }
        if (durable) {
            durable = false;
            return new TellDurable();
        }
        if (laneMap != null) {
            frame = laneMap;
            laneMap = null;
            return new Control(frame);
        }
        Frame request = requests.peek();
        if (request != null) {
            answering = true;
            return new Answer(request);
        }
        Nack nack = nacks.poll();
        if (nack != null) {
            return new Repeat(nack, Objects.requireNonNull(subscription, "a NACK follows a SUBSCRIBE"));
        }
        if (subscription == null) {
            return null;
        }
        PieceKey piece = subscription.next(subscription.through);
        if (piece != null) {
            return new Send(piece, subscription);
        }
        return subscription.ends() ? new End(subscription) : null;
    }

    /**
     * Queues a control frame. Waits while the peer does not read. Returns without queueing it if the session has ended.
     */
    void add(Frame frame) throws InterruptedException {
        lock.lock();
        try {
            while (frames.size() >= MAX_FRAMES && !closed) {
                changed.await();
            }
            frames.add(frame);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Queues a control frame if there is room. Never waits. */
    void offer(Frame frame) {
        lock.lock();
        try {
            if (!closed && frames.size() < MAX_FRAMES) {
                frames.add(frame);
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes the next frame if it is a PONG. Returns null if it is another frame, or if an earlier frame may not be
     * written yet.
     */
    @Nullable
    Frame pong() {
        lock.lock();
        try {
            return !closed && !inHand && frames.peek() instanceof Pong ? frames.poll() : null;
        } finally {
            lock.unlock();
        }
    }

    /** Queues the newest lane map, which replaces one that was not sent yet. */
    void laneMap(LaneMap map) {
        lock.lock();
        try {
            laneMap = map;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Notes that more receipts are durable. The sender creates the frame with the count when it sends it. */
    void durable() {
        lock.lock();
        try {
            durable = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Replaces the subscription. */
    void subscribe(Subscription next) {
        lock.lock();
        try {
            subscription = next;
            nacks.clear();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Extends the grant of the present subscription. A grant for an earlier subscription is ignored. */
    void grant(Grant grant) {
        lock.lock();
        try {
            if (subscription != null
                    && subscription.id() == grant.subscription()
                    && grant.through() > subscription.through) {
                subscription.through = grant.through();
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Queues a piece to be repeated. Returns false if there are too many. */
    boolean nack(Nack nack) {
        lock.lock();
        try {
            if (nacks.size() >= MAX_NACKS) {
                return false;
            }
            nacks.add(nack);
            changed.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Queues a request for samples. Returns false if too many are not answered. */
    boolean request(Frame request) {
        lock.lock();
        try {
            if (requests.size() >= GetSamples.MAX_REQUESTS) {
                return false;
            }
            requests.add(request);
            changed.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the session with this frame, or without a frame if null. Queued tasks are discarded. */
    void end(@Nullable Frame farewell) {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                last = farewell;
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits for this time. Returns false if the session ended meanwhile. */
    boolean pause(long ms) throws InterruptedException {
        long left = TimeUnit.MILLISECONDS.toNanos(ms);
        lock.lock();
        try {
            while (!closed && left > 0) {
                left = changed.awaitNanos(left);
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    boolean isEnded() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether the count of durable receipts has increased and the trainer was not told. */
    boolean owesDurable() {
        lock.lock();
        try {
            return durable;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the frame that ends the session, or null. */
    @Nullable
    Frame farewell() {
        lock.lock();
        try {
            return last;
        } finally {
            lock.unlock();
        }
    }
}

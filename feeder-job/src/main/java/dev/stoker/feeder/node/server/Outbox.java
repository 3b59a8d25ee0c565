package dev.stoker.feeder.node.server;

import dev.stoker.feeder.node.window.PieceKey;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Grant;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Nack;
import dev.stoker.schemas.protocol.Pong;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * What a session's sender has to do, as other threads know it: control frames, the subscription and its grant, pieces to repeat.
 * Bounded: a peer that asks faster than it reads makes its own reader wait. Thread-safe.
 */
final class Outbox {
    private static final int MAX_FRAMES = 32;
    private static final int MAX_NACKS = 256;

    /** One thing to do. */
    sealed interface Task {}

    /** A frame to write. */
    record Control(Frame frame) implements Task {}

    /** The count of durable receipts is to be told. */
    record TellDurable() implements Task {}

    /** A piece is to be checked and sent again. */
    record Repeat(Nack nack, Subscription subscription) implements Task {}

    /** A piece is to be sent. */
    record Send(PieceKey piece, Subscription subscription) implements Task {}

    /** Every number of the subscription has been passed. */
    record End(Subscription subscription) implements Task {}

    private final Lock lock;
    private final Condition changed;
    private final ArrayDeque<Frame> frames = new ArrayDeque<>();
    private final ArrayDeque<Nack> nacks = new ArrayDeque<>();
    private Subscription subscription;
    private LaneMap laneMap;
    private boolean durable;
    private Frame last;
    /** Whether the sender has a frame in hand that may not be written yet. */
    private boolean inHand;

    private boolean closed;

    /** @param lock guards the rest; nobody else uses it */
    Outbox(Lock lock) {
        this.lock = lock;
        this.changed = lock.newCondition();
    }

    /**
     * Waits for something to do; the order is control frames, repeats, data. Sender thread only, which owns the subscription's
     * cursor.
     *
     * @param onIdle called before waiting
     * @return null when the session has ended
     */
    Task take(Runnable onIdle) throws InterruptedException {
        lock.lock();
        try {
            inHand = false;
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

    private Task next() {
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
        Nack nack = nacks.poll();
        if (nack != null) {
            return new Repeat(nack, subscription);
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

    /** Queues a control frame; waits while the peer does not read. Returns without it when the session has ended. */
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

    /** Queues a control frame if there is room; never waits. */
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

    /** Takes the PONG that goes out next, or returns null if something else does, or one that was taken before. */
    Frame pong() {
        lock.lock();
        try {
            return !closed && !inHand && frames.peek() instanceof Pong ? frames.poll() : null;
        } finally {
            lock.unlock();
        }
    }

    /** Queues the newest lane map in place of one that has not gone out. */
    void laneMap(LaneMap map) {
        lock.lock();
        try {
            laneMap = map;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** More receipts are durable; the frame with the count is made when it goes out. */
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

    /** Extends the present subscription's grant; one for an earlier subscription is ignored. */
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

    /** Queues a piece to be repeated; false if there are too many. */
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

    /** The session ends with this frame, or with none if null; what is queued does not go out any more. */
    void end(Frame farewell) {
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

    /** Waits; false if the session ended meanwhile. */
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

    /** Whether the count of durable receipts has grown and was not told. */
    boolean owesDurable() {
        lock.lock();
        try {
            return durable;
        } finally {
            lock.unlock();
        }
    }

    /** The frame to end with, or null. */
    Frame farewell() {
        lock.lock();
        try {
            return last;
        } finally {
            lock.unlock();
        }
    }
}

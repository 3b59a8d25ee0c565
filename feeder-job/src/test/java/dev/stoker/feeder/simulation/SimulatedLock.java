package dev.stoker.feeder.simulation;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A reentrant lock for the threads of one process, which wait for it in virtual time. Events of the simulation can take
 * it too if it is free. The threads of a dead process never wait for it. Only the thread that has the turn uses it.
 */
final class SimulatedLock implements Lock {
    private final SimulatedProcess process;
    private Object owner;
    private int holds;
    private final Deque<SimulatedProcess.Waiter> queue = new ArrayDeque<>();

    SimulatedLock(SimulatedProcess process) {
        this.process = process;
    }

    /** Returns the calling thread. An event of the simulation is represented by the process. */
    private Object me() {
        SimulatedProcess.SimulatedThread current = process.current();
        return current == null ? process : current;
    }

    @Override
    public void lock() {
        Object me = me();
        while (process.isAlive() && owner != null && owner != me) {
            SimulatedProcess.Waiter waiter = process.waiter();
            queue.add(waiter);
            waiter.await("a lock", -1);
        }
        owner = me;
        holds++;
    }

    @Override
    public boolean tryLock() {
        if (process.isAlive() && owner != null && owner != me()) {
            return false;
        }
        owner = me();
        holds++;
        return true;
    }

    @Override
    public void unlock() {
        if (--holds <= 0) {
            holds = 0;
            owner = null;
            if (process.isAlive() && !queue.isEmpty()) {
                queue.poll().wake();
            }
        }
    }

    /** Releases all holds at once. Returns their number, for {@link #lockAgain}. */
    int unlockAll() {
        int held = holds;
        holds = 1;
        unlock();
        return held;
    }

    /** Takes the lock and restores this number of holds. */
    void lockAgain(int held) {
        lock();
        holds = held;
    }

    @Override
    public void lockInterruptibly() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Condition newCondition() {
        return new SimulatedCondition(process, this);
    }
}

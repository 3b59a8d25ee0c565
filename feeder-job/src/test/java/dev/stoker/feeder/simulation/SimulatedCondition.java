package dev.stoker.feeder.simulation;

import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/** A condition of a {@link SimulatedLock}. Threads wait for it in virtual time. Only the holder of the lock uses it. */
final class SimulatedCondition implements Condition {
    private final SimulatedProcess process;
    private final SimulatedLock lock;
    private final List<SimulatedProcess.Waiter> waiters = new ArrayList<>();

    SimulatedCondition(SimulatedProcess process, SimulatedLock lock) {
        this.process = process;
        this.lock = lock;
    }

    private void await(String what, long nanos) throws InterruptedException {
        SimulatedProcess.Waiter waiter = process.waiter();
        if (waiter.thread != null && waiter.thread.interrupted) {
            waiter.thread.interrupted = false;
            throw new InterruptedException();
        }
        int held = lock.unlockAll();
        waiters.add(waiter);
        try {
            if (waiter.thread != null) {
                waiter.thread.waiting = waiter;
            }
            waiter.await(what, nanos);
        } finally {
            waiters.remove(waiter);
            if (waiter.thread != null) {
                waiter.thread.waiting = null;
            }
            lock.lockAgain(held);
        }
        if (waiter.thread.interrupted) {
            waiter.thread.interrupted = false;
            throw new InterruptedException();
        }
    }

    @SuppressWarnings("WaitNotInLoop") // It is the condition itself.
    @Override
    public void await() throws InterruptedException {
        await("a condition", -1);
    }

    @SuppressWarnings("WaitNotInLoop") // It is the condition itself.
    @Override
    public long awaitNanos(long nanos) throws InterruptedException {
        long before = process.nanoTime();
        await("a condition or time", nanos);
        return nanos - (process.nanoTime() - before);
    }

    @Override
    public void signal() {
        signalAll();
    }

    @Override
    public void signalAll() {
        if (process.isAlive()) {
            List.copyOf(waiters).forEach(SimulatedProcess.Waiter::wake);
        }
    }

    @Override
    public void awaitUninterruptibly() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean await(long time, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean awaitUntil(Date deadline) {
        throw new UnsupportedOperationException();
    }
}

package dev.stoker.feeder.simulation;

import dev.stoker.server.threads.Threads;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Date;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A process that can be paused and killed, and the threads in it. A thread gives way only where it waits: for a lock, a
 * condition, a connection, or time.
 */
final class SimulatedProcess implements Threads {
    private static final ExecutorService POOL = CheapThreads.areThere()
            ? CheapThreads.pool(Integer.MAX_VALUE)
            : Executors.newCachedThreadPool(task -> {
                Thread thread = new Thread(task, "simulated");
                thread.setDaemon(true);
                return thread;
            });

    /** Ends the threads of a killed process. */
    static final class Killed extends Error {
        private static final long serialVersionUID = 1L;

        Killed() {
            super("the process was killed", null, false, false);
        }
    }

    private final Simulation simulation;
    private final String name;
    private final List<SimulatedThread> threads = new ArrayList<>();
    private final List<Runnable> onKill = new ArrayList<>();
    private boolean alive = true;
    private long pausedUntilNanos;

    SimulatedProcess(Simulation simulation, String name) {
        this.simulation = simulation;
        this.name = name;
        simulation.add(this);
    }

    String name() {
        return name;
    }

    boolean isAlive() {
        return alive;
    }

    long pausedUntilNanos() {
        return pausedUntilNanos;
    }

    /** Stops the process for a while, as SIGSTOP and SIGCONT do. */
    void pause(long nanos) {
        pausedUntilNanos = Math.max(pausedUntilNanos, simulation.nowNanos() + nanos);
    }

    /** Has something done when the process dies, such as cutting its connections. */
    void onKill(Runnable action) {
        onKill.add(action);
    }

    /** Ends the process at once. Its threads unwind without being able to wait or to reach anybody. */
    void kill() {
        if (!alive) {
            return;
        }
        alive = false;
        onKill.forEach(Runnable::run);
        for (boolean some = true; some; ) {
            some = false;
            // Those that were started last first, as others wait for their end.
            for (int i = threads.size() - 1; i >= 0; i--) {
                SimulatedThread thread = threads.get(i);
                if (!thread.ended) {
                    some = true;
                    thread.unwind();
                }
            }
            threads.removeIf(thread -> thread.ended);
        }
    }

    String describe() {
        StringBuilder text = new StringBuilder();
        for (SimulatedThread thread : threads) {
            if (!thread.ended) {
                text.append("  ")
                        .append(name)
                        .append(" / ")
                        .append(thread.label)
                        .append(" waits for ");
                text.append(thread.waitsFor).append('\n');
            }
        }
        return text.toString();
    }

    /** The thread that calls, or null if it is the one of the simulation. */
    private SimulatedThread current() {
        SimulatedThread current = simulation.current();
        return current != null && current.process == this ? current : null;
    }

    // ---- waiting

    /** Waits until {@link Waiter#wake} or the time is over; a thread of this process only. */
    final class Waiter {
        private final SimulatedThread thread = current();
        private boolean woken;

        /** Wakes the thread soon. */
        void wake() {
            if (!woken) {
                woken = true;
                thread.resumeAfter(simulation.between(0, 20 * Simulation.MICRO));
            }
        }

        boolean isWoken() {
            return woken;
        }

        /**
         * Waits.
         *
         * @param nanos at most so long; negative for no limit
         */
        void await(String what, long nanos) {
            if (thread == null) {
                throw new IllegalStateException("only a simulated thread of " + name + " can wait for " + what);
            }
            if (!alive) {
                throw new Killed();
            }
            if (!woken && nanos >= 0) {
                thread.resumeAfter(nanos);
            }
            thread.giveWay(what);
            thread.resumes++;
        }
    }

    /** Lets time pass on the calling thread. */
    void sleep(long nanos) {
        new Waiter().await("time", Math.max(0, nanos));
    }

    Waiter waiter() {
        return new Waiter();
    }

    static final class SimulatedThread {
        final SimulatedProcess process;
        final String label;
        private final Runnable body;
        private final Simulation.Turn turn = new Simulation.Turn();
        final List<Waiter> joining = new ArrayList<>();
        Waiter waiting;
        /** Runs it; null before its first turn. */
        volatile Thread real;

        String waitsFor = "its start";
        boolean ended;
        boolean interrupted;
        /** Waits that are over; a wake-up for an earlier one is void. */
        long resumes;

        SimulatedThread(SimulatedProcess process, String label, Runnable body) {
            this.process = process;
            this.label = label;
            this.body = body;
        }

        void resumeAfter(long nanos) {
            long wait = resumes;
            process.simulation.wake(nanos, process, () -> !ended && resumes == wait ? this : null);
        }

        /** It is this thread's turn, the first one or another. */
        void resume() {
            if (real == null) {
                POOL.execute(this::run);
            } else {
                turn.give();
            }
        }

        /** Has the thread of a killed process end. */
        void unwind() {
            if (real == null) {
                ended = true;
            } else {
                process.simulation.giveTurn(this);
            }
        }

        private void run() {
            real = Thread.currentThread();
            real.setName(process.name + " / " + label);
            turn.belongsHere();
            waitsFor = "nothing";
            try {
                body.run();
            } catch (Killed e) {
                // Expected.
            } catch (Throwable e) {
                process.simulation.trace(process.name, label + " ended with " + e);
                process.simulation.fail(
                        new AssertionError("thread " + label + " of " + process.name + " ended with " + e, e));
            } finally {
                ended = true;
                process.threads.remove(this);
                if (process.alive) {
                    joining.forEach(Waiter::wake);
                    process.simulation.passTurn(null);
                } else {
                    process.simulation.returnTurn();
                }
            }
        }

        void giveWay(String what) {
            waitsFor = what;
            if (!process.simulation.passTurn(this)) {
                turn.await(0);
            }
            waitsFor = "nothing";
            if (!process.alive) {
                throw new Killed();
            }
        }
    }

    // ---- Threads

    @Override
    public long nowMs() {
        return simulation.nowMs();
    }

    @Override
    public long nanoTime() {
        return simulation.nowNanos();
    }

    @Override
    public Lock lock() {
        return new SimulatedLock();
    }

    @Override
    public Started start(String label, Runnable body) {
        SimulatedThread thread = new SimulatedThread(this, label, body);
        if (!alive) {
            thread.ended = true;
            return new Running(thread);
        }
        threads.add(thread);
        thread.resumeAfter(simulation.between(0, 50 * Simulation.MICRO));
        return new Running(thread);
    }

    private final class Running implements Started {
        private final SimulatedThread thread;

        Running(SimulatedThread thread) {
            this.thread = thread;
        }

        @Override
        public boolean isAlive() {
            return !thread.ended;
        }

        @Override
        public void interrupt() {
            thread.interrupted = true;
            if (thread.waiting != null) {
                thread.waiting.wake();
            }
        }

        @Override
        public void join() {
            join(Duration.ofDays(365));
        }

        @Override
        public void join(Duration limit) {
            if (!thread.ended) {
                Waiter waiter = new Waiter();
                thread.joining.add(waiter);
                waiter.await("the end of " + thread.label, limit.toNanos());
            }
        }
    }

    @Override
    public Timer timer(String label) {
        return new Timer() {
            private boolean closed;

            @Override
            public void after(Duration delay, Runnable task) {
                if (closed || !alive) {
                    task.run();
                } else {
                    simulation.after(delay.toNanos(), SimulatedProcess.this, label, () -> {
                        if (!closed) {
                            start(label, task);
                        }
                    });
                }
            }

            @Override
            public void close() {
                closed = true;
            }
        };
    }

    /** A lock whose holder alone may run on; others wait in virtual time. */
    private final class SimulatedLock implements Lock {
        private Object owner;
        private int holds;
        private final Deque<Waiter> queue = new ArrayDeque<>();

        private Object me() {
            SimulatedThread current = current();
            return current == null ? simulation : current;
        }

        @Override
        public void lock() {
            Object me = me();
            while (alive && owner != null && owner != me) {
                Waiter waiter = new Waiter();
                queue.add(waiter);
                waiter.await("a lock", -1);
            }
            owner = me;
            holds++;
        }

        @Override
        public boolean tryLock() {
            if (alive && owner != null && owner != me()) {
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
                if (alive && !queue.isEmpty()) {
                    queue.poll().wake();
                }
            }
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
            return new SimulatedCondition(this);
        }
    }

    private final class SimulatedCondition implements Condition {
        private final SimulatedLock lock;
        private final List<Waiter> waiters = new ArrayList<>();

        SimulatedCondition(SimulatedLock lock) {
            this.lock = lock;
        }

        private void await(String what, long nanos) throws InterruptedException {
            Waiter waiter = new Waiter();
            if (waiter.thread != null && waiter.thread.interrupted) {
                waiter.thread.interrupted = false;
                throw new InterruptedException();
            }
            int held = lock.holds;
            lock.holds = 1;
            lock.unlock();
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
                lock.lock();
                lock.holds = held;
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
            long before = simulation.nowNanos();
            await("a condition or time", nanos);
            return nanos - (simulation.nowNanos() - before);
        }

        @Override
        public void signal() {
            signalAll();
        }

        @Override
        public void signalAll() {
            if (alive) {
                List.copyOf(waiters).forEach(Waiter::wake);
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
}

package dev.stoker.feeder.simulation;

import dev.stoker.server.threads.Threads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Lock;

/**
 * A process that can be paused and killed, and the threads in it. A thread passes the turn only where it waits: for a
 * lock, a condition, a connection, or time.
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

    /** Runs an action when the process dies, such as cutting its connections. */
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
            // In reverse order, because a thread may wait for the end of one that was started after it.
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

    /** Returns the calling thread, or null if it is not a thread of this process. */
    SimulatedThread current() {
        SimulatedThread current = simulation.current();
        return current != null && current.process == this ? current : null;
    }

    // ---- waiting

    /** One wait of the calling thread. It ends with {@link Waiter#wake} or after a time. */
    final class Waiter {
        final SimulatedThread thread = current();
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
         * @param nanos maximum time; negative for no limit
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
        /** The thread that runs the body; null before its first turn. */
        volatile Thread real;

        String waitsFor = "its start";
        boolean ended;
        boolean interrupted;
        /** Number of finished waits. A wake-up for an earlier wait has no effect. */
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

        /** Gives this thread the turn. The first turn starts it. */
        void resume() {
            if (real == null) {
                POOL.execute(this::run);
            } else {
                turn.give();
            }
        }

        /** Ends the thread of a killed process. */
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
        return new SimulatedLock(this);
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
}

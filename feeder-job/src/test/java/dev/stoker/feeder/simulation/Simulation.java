package dev.stoker.feeder.simulation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * A virtual clock and everything that happens on it. Events run one at a time, in the order of their times. A simulated thread is
 * a real one that runs only when it is its turn; when it waits, it runs the events that follow until one of them wakes a
 * thread, which then has the turn. The same seed gives the same run.
 */
final class Simulation {
    /** Where the virtual wall clock begins. */
    static final long START_MS = 1_800_000_000_000L;

    static final long MICRO = 1_000L;
    static final long MILLI = 1_000_000L;
    static final long SECOND = 1_000_000_000L;

    private static final int TRACE_LINES = 4_000;
    /** A thread that runs for so long without giving way hangs in something that is not simulated. */
    private static final int STUCK_SECONDS = 60;

    /**
     * Something that happens at a time; belongs to a process, or to nobody.
     *
     * @param wakes the thread whose turn it then is, or null
     * @param isFault whether it may kill processes, which only the thread of {@link #run} can do
     */
    private record Event(
            long atNanos, long order, SimulatedProcess process, Runnable action, Wake wakes, boolean isFault)
            implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(atNanos, other.atNanos);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    final Random random;
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final ArrayDeque<String> trace = new ArrayDeque<>();
    private final List<SimulatedProcess> processes = new ArrayList<>();
    private final boolean isLoud;
    /** The virtual time; written by the thread whose turn it is. */
    private volatile long nowNanos;

    private long orders;
    private Throwable failure;
    /** Has the turn between the simulated threads; written by the thread whose turn it is. */
    private final Turn main = new Turn();
    /** The simulated thread that runs; null while events do. */
    private SimulatedProcess.SimulatedThread current;

    private long untilNanos;
    private Condition done;
    /** Grows as events happen; read by another thread only to see that it does. */
    private volatile long steps;

    /** A thread that is to be woken unless it was woken before. */
    interface Wake {
        /** The thread, or null if it waits for something else by now. */
        SimulatedProcess.SimulatedThread thread();
    }

    Simulation(long seed, boolean isLoud) {
        this.random = new Random(seed);
        this.isLoud = isLoud;
    }

    long nowNanos() {
        return nowNanos;
    }

    long nowMs() {
        return START_MS + nowNanos / MILLI;
    }

    void add(SimulatedProcess process) {
        processes.add(process);
    }

    /** A random whole number from {@code from} to {@code to}, both included. */
    long between(long from, long to) {
        return from + (long) (random.nextDouble() * (to - from + 1));
    }

    /** Whether something of this probability happens. */
    boolean chance(double probability) {
        return random.nextDouble() < probability;
    }

    /** Has something happen after a while, unless the process has died by then. */
    void after(long nanos, SimulatedProcess process, String what, Runnable action) {
        events.add(new Event(nowNanos + Math.max(0, nanos), orders++, process, action, null, false));
    }

    /** Has a fault happen after a while. */
    void fault(long nanos, Runnable action) {
        events.add(new Event(nowNanos + nanos, orders++, null, action, null, true));
    }

    /** Has a thread woken after a while. */
    void wake(long nanos, SimulatedProcess process, Wake wake) {
        events.add(new Event(nowNanos + Math.max(0, nanos), orders++, process, null, wake, false));
    }

    /** Notes what happens, for whoever reads about a failure. */
    void trace(String who, String what) {
        String line = String.format("%11.6f  %-16s %s", nowNanos / 1e9, who, what);
        if (isLoud) {
            System.out.println(line);
        }
        trace.add(line);
        if (trace.size() > TRACE_LINES) {
            trace.remove();
        }
    }

    List<String> trace() {
        return List.copyOf(trace);
    }

    /** Ends the run with a violated promise; the first one counts. */
    void fail(Throwable violation) {
        if (failure == null) {
            failure = violation;
            trace("VIOLATION", String.valueOf(violation.getMessage()));
        }
    }

    boolean hasFailed() {
        return failure != null;
    }

    interface Condition {
        boolean holds();
    }

    /**
     * Lets events happen until the condition is true.
     *
     * @return false if the time was over before
     */
    boolean run(long limitNanos, Condition condition) {
        untilNanos = limitNanos;
        done = condition;
        while (true) {
            SimulatedProcess.SimulatedThread next = runEvents(true);
            if (next == null) {
                break;
            }
            giveTurn(next);
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
        return done.holds();
    }

    /**
     * Runs events until one wakes a thread.
     *
     * @return the thread whose turn it is; null if it is that of the thread of {@link #run}
     */
    private SimulatedProcess.SimulatedThread runEvents(boolean isMain) {
        try {
            while (failure == null && !done.holds()) {
                Event next = events.peek();
                if (next == null || next.atNanos > untilNanos || (next.isFault && !isMain)) {
                    return null;
                }
                SimulatedProcess.SimulatedThread woken = step();
                if (woken != null) {
                    return woken;
                }
            }
        } catch (Throwable e) {
            fail(e);
        }
        return null;
    }

    private SimulatedProcess.SimulatedThread step() {
        Event event = events.poll();
        steps++;
        nowNanos = Math.max(nowNanos, event.atNanos);
        SimulatedProcess process = event.process;
        if (process != null) {
            if (!process.isAlive()) {
                return null;
            }
            if (process.pausedUntilNanos() > nowNanos) {
                events.add(new Event(
                        process.pausedUntilNanos(), event.order, process, event.action, event.wakes, event.isFault));
                return null;
            }
        }
        if (event.wakes != null) {
            return event.wakes.thread();
        }
        event.action.run();
        return null;
    }

    // ---- turns

    /** The right to run, which one thread has at a time. */
    static final class Turn {
        private Thread thread;
        private volatile boolean isMine;

        void give() {
            isMine = true;
            LockSupport.unpark(thread);
        }

        /** Waits for it; false after a time. */
        boolean await(long nanos) {
            thread = Thread.currentThread();
            boolean interrupted = false;
            long deadline = System.nanoTime() + nanos;
            while (!isMine && (nanos == 0 || System.nanoTime() < deadline)) {
                if (nanos == 0) {
                    LockSupport.park(this);
                } else {
                    LockSupport.parkNanos(this, deadline - System.nanoTime());
                }
                interrupted |= Thread.interrupted();
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            boolean was = isMine;
            isMine = false;
            return was;
        }

        /** The calling thread is the one that will wait for it. */
        void belongsHere() {
            thread = Thread.currentThread();
        }
    }

    /** Lets simulated threads run, first this one, until the turn comes back. Called by the thread of {@link #run}. */
    void giveTurn(SimulatedProcess.SimulatedThread thread) {
        main.belongsHere();
        current = thread;
        thread.resume();
        long before = steps;
        while (!main.await(STUCK_SECONDS * SECOND)) {
            if (steps == before) {
                StringBuilder stack = new StringBuilder("a thread does not give way:");
                for (StackTraceElement element : current.real.getStackTrace()) {
                    stack.append("\n    at ").append(element);
                }
                throw new IllegalStateException(stack.toString());
            }
            before = steps;
        }
        current = null;
    }

    /** The calling thread waits: what follows happens on it until it is another thread's turn. True if it is its own. */
    boolean passTurn(SimulatedProcess.SimulatedThread from) {
        current = null;
        SimulatedProcess.SimulatedThread next = runEvents(false);
        current = next;
        if (next == null) {
            main.give();
        } else if (next == from) {
            return true;
        } else {
            next.resume();
        }
        return false;
    }

    /** The calling thread has ended with its process. */
    void returnTurn() {
        main.give();
    }

    /** The simulated thread that calls; null if an event does. */
    SimulatedProcess.SimulatedThread current() {
        return current;
    }

    /** What every living thread waits for. */
    String describe() {
        StringBuilder text = new StringBuilder();
        for (SimulatedProcess process : processes) {
            if (process.isAlive()) {
                text.append(process.describe());
            }
        }
        return text.toString();
    }

    /** Ends all processes. */
    void close() {
        processes.forEach(SimulatedProcess::kill);
    }
}

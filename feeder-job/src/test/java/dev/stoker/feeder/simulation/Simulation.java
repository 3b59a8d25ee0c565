package dev.stoker.feeder.simulation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * A virtual clock and everything that happens on it. Events run one at a time, in the order of their times. A simulated
 * thread is a real thread that runs only when it has the turn. When it waits, it runs the following events until one of
 * them wakes a thread, which then gets the turn. The same seed gives the same run.
 */
final class Simulation {
    /** Start of the virtual wall clock. */
    static final long START_MS = 1_800_000_000_000L;

    static final long MICRO = 1_000L;
    static final long MILLI = 1_000_000L;
    static final long SECOND = 1_000_000_000L;

    private static final int TRACE_LINES = 4_000;
    /** A thread that runs for this time without waiting hangs in something that is not simulated. */
    private static final int STUCK_SECONDS = 60;

    /**
     * An event at some time. It belongs to a process, or to none.
     *
     * @param wakes the thread that gets the turn after it, or null
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
    private final ArrayDeque<Traced> trace = new ArrayDeque<>();
    private final List<SimulatedProcess> processes = new ArrayList<>();
    private final boolean isLoud;
    /** The virtual time. The thread that has the turn writes it. */
    private volatile long nowNanos;

    private long orders;
    private Throwable failure;
    /** The turn of the thread that calls {@link #run}. The thread that has the turn writes it. */
    private final Turn main = new Turn();
    /** The running simulated thread; null while events run. */
    private SimulatedProcess.SimulatedThread current;

    private long untilNanos;
    private Condition done;
    /** Increases as events happen. Another thread reads it only to detect progress. */
    private volatile long steps;

    /** Wakes a thread, unless something else woke it before. */
    interface Wake {
        /** Returns the thread, or null if it waits for something else now. */
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

    /** Returns a random integer from {@code from} to {@code to}, both inclusive. */
    long between(long from, long to) {
        return from + (long) (random.nextDouble() * (to - from + 1));
    }

    /** Returns true with this probability. */
    boolean chance(double probability) {
        return random.nextDouble() < probability;
    }

    /** Runs an action after this time, unless the process has died. */
    void after(long nanos, SimulatedProcess process, String what, Runnable action) {
        events.add(new Event(nowNanos + Math.max(0, nanos), orders++, process, action, null, false));
    }

    /** Runs a fault after this time. */
    void fault(long nanos, Runnable action) {
        events.add(new Event(nowNanos + nanos, orders++, null, action, null, true));
    }

    /** Wakes a thread after this time. */
    void wake(long nanos, SimulatedProcess process, Wake wake) {
        events.add(new Event(nowNanos + Math.max(0, nanos), orders++, process, null, wake, false));
    }

    /** Records an event for the report of a failure. */
    void trace(String who, String what) {
        Traced line = new Traced(nowNanos, who, what);
        if (isLoud) {
            System.out.println(line);
        }
        trace.add(line);
        if (trace.size() > TRACE_LINES) {
            trace.remove();
        }
    }

    /** A recorded event. Most are never printed, so it becomes text only then. */
    private record Traced(long nanos, String who, String what) {
        @Override
        public String toString() {
            return String.format("%11.6f  %-16s %s", nanos / 1e9, who, what);
        }
    }

    List<String> trace() {
        return trace.stream().map(Traced::toString).toList();
    }

    /** Ends the run with a violation. Only the first one counts. */
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
     * Runs events until the condition is true.
     *
     * @return false if the time limit was reached before
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
     * @return the thread that gets the turn; null for the thread of {@link #run}
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

        /** Waits for the turn. Returns false after a timeout. */
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

        /** Notes that the calling thread is the one that waits for this turn. */
        void belongsHere() {
            thread = Thread.currentThread();
        }
    }

    /**
     * Gives simulated threads the turn, first this one, until the turn returns. Called by the thread of {@link #run}.
     */
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

    /**
     * Runs events on the calling thread, which waits, until another thread gets the turn. Returns true if the calling
     * thread gets the turn.
     */
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

    /** Passes the turn on after the calling thread has ended with its process. */
    void returnTurn() {
        main.give();
    }

    /** Returns the calling simulated thread; null in an event. */
    SimulatedProcess.SimulatedThread current() {
        return current;
    }

    /** Describes what every live thread waits for. */
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

package dev.stoker.feeder.simulation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * A virtual clock and everything that happens on it. Events run one at a time, in the order of their times, on the thread that
 * calls {@link #run}. A simulated thread is a real one that runs only while the event that woke it lasts. The same seed gives
 * the same run.
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

    /** Something that happens at a time; belongs to a process, or to nobody. */
    private record Event(long atNanos, long order, SimulatedProcess process, String what, Runnable action)
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
    private final Semaphore turnBack = new Semaphore(0);

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
        events.add(new Event(nowNanos + Math.max(0, nanos), orders++, process, what, action));
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
    boolean run(long untilNanos, Condition done) {
        while (!done.holds()) {
            Event next = events.peek();
            if (next == null || next.atNanos > untilNanos) {
                return false;
            }
            step();
        }
        return true;
    }

    private void step() {
        Event event = events.poll();
        nowNanos = Math.max(nowNanos, event.atNanos);
        SimulatedProcess process = event.process;
        if (process != null) {
            if (!process.isAlive()) {
                return;
            }
            if (process.pausedUntilNanos() > nowNanos) {
                events.add(new Event(process.pausedUntilNanos(), event.order, process, event.what, event.action));
                return;
            }
        }
        event.action.run();
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
    }

    /** Gives the turn to a simulated thread and takes it back when that waits or ends. Called by the thread of {@link #run}. */
    void giveTurn(Semaphore turn, Thread thread) {
        turn.release();
        try {
            if (!turnBack.tryAcquire(STUCK_SECONDS, TimeUnit.SECONDS)) {
                StringBuilder stack = new StringBuilder("the thread " + thread.getName() + " does not give way:");
                for (StackTraceElement element : thread.getStackTrace()) {
                    stack.append("\n    at ").append(element);
                }
                throw new IllegalStateException(stack.toString());
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("the simulation was interrupted", e);
        }
    }

    /** Called by a simulated thread that waits or ends. */
    void returnTurn() {
        turnBack.release();
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

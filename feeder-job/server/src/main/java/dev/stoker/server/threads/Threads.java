package dev.stoker.server.threads;

import java.time.Duration;
import java.util.concurrent.locks.Lock;

/**
 * The threads and the time of one process. Every wait that another thread or a peer ends goes through this interface,
 * so a simulator can decide which thread runs next. Thread-safe.
 */
public interface Threads {

    /** The wall clock in milliseconds since 1970. */
    long nowMs();

    /** A clock for intervals, in nanoseconds. */
    long nanoTime();

    /** A new reentrant lock. Its conditions belong to these threads too. */
    Lock lock();

    /** Starts a daemon thread. */
    Started start(String name, Runnable body);

    /** Starts a daemon thread that runs tasks after a while, one at a time. */
    Timer timer(String name);

    /** The threads and the time of this Java process. */
    static Threads system() {
        return SystemThreads.INSTANCE;
    }

    /** A thread that was started. */
    interface Started {

        /** Whether the thread has not ended yet. */
        boolean isAlive();

        /** Interrupts what the thread waits for. */
        void interrupt();

        /** Waits until the thread has ended. */
        void join() throws InterruptedException;

        /** Waits until the thread has ended, but not longer than the limit. */
        void join(Duration limit) throws InterruptedException;
    }

    /** Runs tasks later. */
    interface Timer extends AutoCloseable {

        /** Runs a short task after a delay; at once and on this thread if the timer is closed. */
        void after(Duration delay, Runnable task);

        /** Forgets what has not run yet. */
        @Override
        void close();
    }
}

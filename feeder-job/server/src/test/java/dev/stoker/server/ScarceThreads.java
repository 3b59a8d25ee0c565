package dev.stoker.server;

import dev.stoker.server.threads.Threads;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;

/** Threads of a process that may start only a limited number of further threads, as if limited by the machine. */
public final class ScarceThreads implements Threads {
    private final Threads system = Threads.system();
    private final AtomicInteger allowed = new AtomicInteger(Integer.MAX_VALUE);

    /** Limits the number of threads that can be started from now on. */
    public void allow(int threads) {
        allowed.set(threads);
    }

    @Override
    public long nowMs() {
        return system.nowMs();
    }

    @Override
    public long nanoTime() {
        return system.nanoTime();
    }

    @Override
    public Lock lock() {
        return system.lock();
    }

    @Override
    public Started start(String name, Runnable body) {
        if (allowed.getAndDecrement() <= 0) {
            throw new OutOfMemoryError("unable to create native thread: as the JVM says");
        }
        return system.start(name, body);
    }

    @Override
    public Timer timer(String name) {
        return system.timer(name);
    }
}

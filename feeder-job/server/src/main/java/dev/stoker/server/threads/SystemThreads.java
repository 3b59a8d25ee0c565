package dev.stoker.server.threads;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** Threads of the Java virtual machine and the clock of its machine. */
enum SystemThreads implements Threads {
    INSTANCE;

    @Override
    public long nowMs() {
        return System.currentTimeMillis();
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Lock lock() {
        return new ReentrantLock();
    }

    @Override
    public Started start(String name, Runnable body) {
        Thread thread = daemon(name, body);
        thread.start();
        return new Running(thread);
    }

    @Override
    public Timer timer(String name) {
        ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, task -> daemon(name, task));
        // Now, since the first task may come because the process may have no more threads.
        executor.prestartCoreThread();
        return new ScheduledTimer(executor);
    }

    private static Thread daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        return thread;
    }

    private record Running(Thread thread) implements Started {
        @Override
        public boolean isAlive() {
            return thread.isAlive();
        }

        @Override
        public void interrupt() {
            thread.interrupt();
        }

        @Override
        public void join() throws InterruptedException {
            thread.join();
        }

        @Override
        public void join(Duration limit) throws InterruptedException {
            thread.join(limit.toMillis());
        }
    }

    private record ScheduledTimer(ScheduledExecutorService executor) implements Timer {
        @Override
        public void after(Duration delay, Runnable task) {
            try {
                Future<?> unused = executor.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                task.run();
            }
        }

        @Override
        public void close() {
            executor.shutdownNow();
        }
    }
}

package dev.stoker.cli;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What this process holds between two commands: threads, open files, objects and classes. The jars of the class path do
 * not count, because the JVM opens them when it first needs a class.
 */
record Footprint(Set<Thread> threads, int files, long objectBytes, long classBytes) {

    /** Sockets and files that libraries open once, such as an epoll instance. */
    private static final int MORE_FILES = 16;
    /** Above what a command leaves that has run before, 25 MB. */
    private static final long MORE_OBJECT_BYTES = 128L << 20;
    /** All libraries of the command together have some 100 MB. */
    private static final long MORE_CLASS_BYTES = 192L << 20;
    /** Garbage needs no collection until there is so much of it. */
    private static final long GARBAGE_BYTES = 256L << 20;
    /** Buffers outside the heap are freed some time after the collection that finds them unused. */
    private static final int COLLECTIONS = 5;
    /** Threads that serve a whole process and keep nothing of a command. */
    private static final List<String> SHARED =
            List.of("FlinkCompletableFutureDelayScheduler", "ForkJoinPool.commonPool", "process reaper");

    /** Returns the present one. */
    static Footprint now() {
        return new Footprint(Thread.getAllStackTraces().keySet(), openFiles(), objects(), classes());
    }

    /**
     * Waits until the command's threads have ended, and returns what has grown too much since this footprint.
     *
     * @param end how long the threads may take
     */
    Optional<String> growth(Duration end) throws InterruptedException {
        List<String> running = running(end);
        if (!running.isEmpty()) {
            return Optional.of("threads are left: " + running);
        }
        int moreFiles = openFiles() - files;
        if (moreFiles > MORE_FILES) {
            return Optional.of(moreFiles + " files are left open");
        }
        long moreObjects = objects() - objectBytes;
        if (moreObjects > GARBAGE_BYTES) {
            for (int i = 0; i < COLLECTIONS && moreObjects > MORE_OBJECT_BYTES; i++) {
                collect();
                moreObjects = objects() - objectBytes;
            }
            if (moreObjects > MORE_OBJECT_BYTES) {
                return Optional.of("objects have grown by " + moreObjects + " bytes");
            }
        }
        long moreClasses = classes() - classBytes;
        return moreClasses > MORE_CLASS_BYTES
                ? Optional.of("classes have grown by " + moreClasses + " bytes")
                : Optional.empty();
    }

    /** Collects garbage and waits until the buffers that it found unused are freed, which the same thread does. */
    private static void collect() throws InterruptedException {
        ReferenceQueue<Object> found = new ReferenceQueue<>();
        PhantomReference<Object> garbage = new PhantomReference<>(new Object(), found);
        try {
            System.gc();
            found.remove(1_000);
        } finally {
            Reference.reachabilityFence(garbage);
        }
    }

    /** Returns the threads that a command has left, after it had some time to end them. */
    private List<String> running(Duration limit) throws InterruptedException {
        Set<Thread> more = new HashSet<>(Thread.getAllStackTraces().keySet());
        more.removeAll(threads);
        more.remove(Thread.currentThread());
        more.removeIf(thread -> SHARED.stream().anyMatch(thread.getName()::startsWith));
        long end = System.nanoTime() + limit.toNanos();
        for (Thread thread : more) {
            thread.join(Math.max(1, (end - System.nanoTime()) / 1_000_000));
        }
        return more.stream()
                .filter(Thread::isAlive)
                .map(Thread::getName)
                .sorted()
                .toList();
    }

    private static int openFiles() {
        int count = 0;
        try (DirectoryStream<Path> links = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path link : links) {
                count += isJar(link) ? 0 : 1;
            }
        } catch (IOException e) {
            throw new IllegalStateException("cannot list the open files of this process", e);
        }
        return count;
    }

    private static boolean isJar(Path link) {
        try {
            return Files.readSymbolicLink(link).toString().endsWith(".jar");
        } catch (IOException e) {
            // Closed meanwhile.
            return true;
        }
    }

    private static long objects() {
        return pools(MemoryType.HEAP)
                        .mapToLong(pool -> pool.getUsage().getUsed())
                        .sum()
                + ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                        .mapToLong(BufferPoolMXBean::getMemoryUsed)
                        .sum();
    }

    private static long classes() {
        return pools(MemoryType.NON_HEAP)
                .filter(pool -> pool.getName().equals("Metaspace"))
                .mapToLong(pool -> pool.getUsage().getUsed())
                .sum();
    }

    private static Stream<MemoryPoolMXBean> pools(MemoryType type) {
        return ManagementFactory.getMemoryPoolMXBeans().stream().filter(pool -> pool.getType() == type);
    }
}

package dev.stoker.cli;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/** What a process holds: threads, open files, memory. */
record Footprint(Set<Thread> threads, int descriptors, long heapBytes, long classBytes) {

    static Footprint now() {
        System.gc();
        long heap = 0, classes = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            switch (pool.getType()) {
                case HEAP -> heap += pool.getUsage().getUsed();
                case NON_HEAP -> classes += pool.getName().equals("Metaspace") ? pool.getUsage().getUsed() : 0;
            }
        }
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            heap += pool.getMemoryUsed();
        }
        return new Footprint(Thread.getAllStackTraces().keySet(), open(), heap, classes);
    }

    /** Counts the open files without the jars of the class path. */
    private static int open() {
        int count = 0;
        try (DirectoryStream<Path> links = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path link : links) {
                try {
                    count += Files.readSymbolicLink(link).toString().endsWith(".jar") ? 0 : 1;
                } catch (IOException e) {
                    // Closed meanwhile.
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return count;
    }

    Optional<String> growth() {
        Footprint now = now();
        if (System.getenv("WARM_TRACE") != null) {
            try {
                Files.writeString(
                        Path.of(System.getenv("WARM_TRACE")),
                        now.threads().size() + " threads " + now.descriptors + " fds " + (now.heapBytes >> 20)
                                + " MB heap " + (now.classBytes >> 20) + " MB classes "
                                + now.threads().stream().filter(t -> !threads.contains(t)).map(t -> t.getName() + (t.isDaemon() ? "" : "!")).toList()
                                + "\n",
                        java.nio.file.StandardOpenOption.CREATE,
                        java.nio.file.StandardOpenOption.APPEND);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
        return Optional.empty();
    }
}

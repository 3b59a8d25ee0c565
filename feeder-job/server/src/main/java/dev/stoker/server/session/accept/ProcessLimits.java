package dev.stoker.server.session.accept;

import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How many sessions the limits of the process allow. A session takes two threads and a file descriptor. The rest of the
 * process also needs some: if it cannot start a thread for a checkpoint, the whole process fails.
 *
 * @param threads limit and use of threads
 * @param files limit and use of file descriptors
 */
public record ProcessLimits(Left threads, Left files) {
    private static final int THREADS_A_SESSION = 2;
    /** Threads for checkpoints, the ledger, tiers and the status page. */
    private static final int OTHER_THREADS = 32;
    /** File descriptors for chunks that are being opened, the ledger and the status page. */
    private static final int OTHER_FILES = 64;
    /** The value of a limit that does not exist. */
    private static final long UNLIMITED = Long.MAX_VALUE;

    /**
     * A limit and how much of it is used.
     *
     * @param limit {@link #UNLIMITED} if there is no limit, or it is unknown
     * @param name the name under which an administrator can change the limit
     */
    record Left(long limit, long used, String name) {
        private static final Left ENDLESS = new Left(UNLIMITED, 0, "");

        long free() {
            return limit == UNLIMITED ? UNLIMITED : Math.max(0, limit - used);
        }

        private static Left least(Left a, Left b) {
            return b.free() < a.free() ? b : a;
        }

        @Override
        public String toString() {
            return name + " allows " + limit + ", of which " + used + " are used";
        }
    }

    public static ProcessLimits ofThisProcess() {
        return read(Path.of("/proc"), Path.of("/sys/fs/cgroup"));
    }

    /**
     * Reads the limits. A limit that cannot be read counts as unlimited.
     *
     * @param proc the kernel's view of processes
     * @param cgroups where control groups are mounted
     */
    public static ProcessLimits read(Path proc, Path cgroups) {
        Path self = proc.resolve("self");
        long threads = entries(self.resolve("task"));
        Left left = new Left(
                number(firstLine(proc.resolve("sys/kernel/threads-max"))),
                threads,
                "kernel.threads-max of the machine");
        if (!isRoot(self)) {
            left = Left.least(
                    left, new Left(limit(self, "Max processes"), threads, "the limit of processes (ulimit -u)"));
        }
        left = Left.least(left, controlGroup(self, cgroups));
        Left files = new Left(
                limit(self, "Max open files"), entries(self.resolve("fd")), "the limit of open files (ulimit -n)");
        return new ProcessLimits(left, files);
    }

    /** Returns the process limit of the control group with the least room. */
    private static Left controlGroup(Path self, Path cgroups) {
        Left least = Left.ENDLESS;
        for (String line : lines(self.resolve("cgroup")).toList()) {
            String[] parts = line.split(":", 3);
            if (parts.length < 3 || !(parts[1].isEmpty() || parts[1].equals("pids"))) {
                continue;
            }
            Path root = parts[1].isEmpty() ? cgroups : cgroups.resolve("pids");
            // Within a container the path may be that of the host. The root of the mount is then the own group.
            Path group = root.resolve(parts[2].replaceFirst("^/+", "")).normalize();
            for (; group != null && group.startsWith(root); group = group.getParent()) {
                long most = number(firstLine(group.resolve("pids.max")));
                if (most != UNLIMITED) {
                    long used = number(firstLine(group.resolve("pids.current")));
                    least = Left.least(
                            least,
                            new Left(
                                    most,
                                    used == UNLIMITED ? 0 : used,
                                    group.resolve("pids.max").toString()));
                }
            }
        }
        return least;
    }

    private static boolean isRoot(Path self) {
        return lines(self.resolve("status")).anyMatch(line -> line.matches("Uid:\\s+\\d+\\s+0\\s.*"));
    }

    private static long limit(Path self, String name) {
        return lines(self.resolve("limits"))
                .filter(line -> line.startsWith(name))
                .map(line -> number(line.substring(name.length()).strip().split("\\s+", 2)[0]))
                .findFirst()
                .orElse(UNLIMITED);
    }

    private static long entries(Path directory) {
        try (Stream<Path> found = Files.list(directory)) {
            return found.count();
        } catch (IOException e) {
            return 0;
        }
    }

    private static String firstLine(Path file) {
        return lines(file).findFirst().orElse("");
    }

    private static Stream<String> lines(Path file) {
        try {
            return Files.readAllLines(file).stream();
        } catch (IOException e) {
            return Stream.empty();
        }
    }

    private static long number(String text) {
        return text.matches("\\d{1,18}") ? Long.parseLong(text) : UNLIMITED;
    }

    /** Returns the number of sessions for which there is room, at least one. */
    public int sessions() {
        long byThreads = threads.free() == UNLIMITED ? UNLIMITED : (threads.free() - OTHER_THREADS) / THREADS_A_SESSION;
        long byFiles = files.free() == UNLIMITED ? UNLIMITED : files.free() - OTHER_FILES;
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE, Math.min(byThreads, byFiles)));
    }

    private Left tightest() {
        return threads.free() / THREADS_A_SESSION < files.free() ? threads : files;
    }

    /** Returns a warning if the limits of the process are too low for this number of sessions. */
    public Optional<String> warning(int maxSessions) {
        return sessions() >= maxSessions
                ? Optional.empty()
                : Optional.of("--max-sessions is " + maxSessions + ", but the limits of this process leave room for "
                        + sessions() + " trainers only, each with " + THREADS_A_SESSION + " threads and a file: "
                        + tightest()
                        + "; more trainers will be refused: raise that limit, or lower --max-sessions");
    }

    /**
     * Rejects a trainer if there is no room for it.
     *
     * @param sessions present number of sessions
     */
    public void judge(int sessions) throws ProtocolException {
        if (sessions >= sessions()) {
            throw new ProtocolException(
                    ErrorCode.INTERNAL,
                    sessions + " trainers are connected, and the limits of the feeder's process allow no more: "
                            + tightest() + " when it started");
        }
    }
}

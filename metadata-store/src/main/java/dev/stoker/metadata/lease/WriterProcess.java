package dev.stoker.metadata.lease;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Names processes so that a later process on the same machine can find out whether one has ended: {@code boot id/pid
 * namespace/pid/start time}, as in Linux's {@code /proc}. On other systems the name is empty, and the state of the
 * process is unknown.
 */
public final class WriterProcess {

    /** The system property of a process that runs all tasks of its jobs, and ends with them. */
    public static final String ALONE = "stoker.writes-alone";

    private static final int START_TIME = 19;

    private WriterProcess() {}

    /** Returns the name of this process; empty if it is unknown. */
    public static String current() {
        long pid = ProcessHandle.current().pid();
        try {
            return machine() + "/" + pid + "/" + startTime(pid);
        } catch (IOException | RuntimeException e) {
            return "";
        }
    }

    /** Returns the name of the only process that writes for a job; empty if several may. */
    public static String ofJob() {
        return Boolean.getBoolean(ALONE) ? current() : "";
    }

    /** Returns the user and host of this process, for people. */
    public static String user() {
        String host = System.getenv("HOSTNAME");
        return System.getProperty("user.name") + (host == null ? "" : "@" + host);
    }

    /** Returns whether the process has certainly ended: it ran on this machine and does not exist any more. */
    public static boolean hasEnded(String process) {
        int start = process.lastIndexOf('/');
        int pid = process.lastIndexOf('/', start - 1);
        if (pid < 1) {
            return false;
        }
        try {
            if (!process.substring(0, pid).equals(machine())) {
                return false;
            }
            return !startTime(Long.parseLong(process.substring(pid + 1, start))).equals(process.substring(start + 1));
        } catch (NoSuchFileException e) {
            return true;
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }

    private static String machine() throws IOException {
        String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id"), StandardCharsets.US_ASCII)
                .strip();
        return boot + "/" + Files.readSymbolicLink(Path.of("/proc/self/ns/pid"));
    }

    private static String startTime(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
        // The name of the program, in parentheses, may contain spaces.
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[START_TIME];
    }
}

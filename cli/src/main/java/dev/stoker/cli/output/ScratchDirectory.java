package dev.stoker.cli.output;

import dev.stoker.schemas.text.Units;
import dev.stoker.storage.LocalErrors;
import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory for this process's temporary files that only its user can enter. Flink unpacks 24 MB at each start, and a
 * process that is killed cannot remove them. The process removes its directory at its end; otherwise the next process
 * does.
 *
 * <p>A lock shows whether a directory's process is alive: the system releases it when the process ends in any way.
 * Process ids would not do, because they differ between containers that share a temporary directory. Guarded by the
 * class.
 */
public final class ScratchDirectory {
    public static final String PREFIX = "stoker-scratch-";
    private static final Logger LOG = LoggerFactory.getLogger(ScratchDirectory.class);
    public static final String LOCK = "lock";
    /** More than Flink unpacks. */
    private static final long LEAST_BYTES = 64 << 20;
    /** Another process may be creating a directory that has no lock yet. */
    private static final Duration LEAST_AGE = Duration.ofMinutes(1);
    /** Kept because an unreachable channel would be closed. */
    private static final List<FileChannel> HELD = new ArrayList<>();
    /** Directories of this process. Opening the lock file of one again would release its lock. */
    private static final Set<String> OWN = new HashSet<>();

    private ScratchDirectory() {}

    /**
     * Directs this process's temporary files to a separate directory. A process that has one keeps it: Flink and the
     * JDK look only once where temporary files belong.
     *
     * @param home the user's Stoker directory, which has the second choice of a place
     * @param temporary where the process keeps temporary files
     * @throws CommandException if there is no suitable place
     */
    public static synchronized void use(Path home, Path temporary) throws CommandException {
        if (OWN.contains(String.valueOf(temporary.getFileName()))) {
            return;
        }
        Path own = takeFirst(List.of(temporary, home.resolve("tmp")), ScratchDirectory::canExecute);
        System.setProperty("java.io.tmpdir", own.toString());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(own), "scratch"));
    }

    /**
     * Creates a directory in the first place with enough space from which native libraries can be loaded; never in one
     * where other users could create files.
     *
     * @param canExecute returns whether the system executes files of a directory
     */
    static Path takeFirst(List<Path> places, Predicate<Path> canExecute) throws CommandException {
        List<String> reasons = new ArrayList<>();
        for (int i = 0; i < places.size(); i++) {
            Path place = places.get(i);
            try {
                if (i > 0) {
                    PrivateFiles.createDirectories(place);
                }
                sweep(place);
                requireRoom(place);
                Path own = take(place);
                if (canExecute.test(own)) {
                    return own;
                }
                delete(own);
                throw new IOException("native libraries cannot be loaded from it, because it is mounted noexec");
            } catch (IOException | UnsupportedOperationException e) {
                reasons.add(place + ": " + LocalErrors.reason(e));
                LOG.warn("Cannot use {} for temporary files", place, e);
            }
        }
        throw new CommandException("no place for temporary files (" + String.join("; ", reasons)
                + "); free some space, or choose another place with STOKER_JAVA_OPTS=-Djava.io.tmpdir=DIRECTORY");
    }

    private static void requireRoom(Path place) throws IOException {
        long room = Files.getFileStore(place).getUsableSpace();
        if (room < LEAST_BYTES) {
            throw new IOException(Units.bytes(room) + " are free; expected at least " + Units.bytes(LEAST_BYTES));
        }
    }

    /** Returns false for a file system that is mounted noexec. */
    private static boolean canExecute(Path directory) {
        Path file = directory.resolve("executable");
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            boolean canExecute = Files.isExecutable(file);
            Files.delete(file);
            return canExecute;
        } catch (IOException | UnsupportedOperationException e) {
            LOG.debug("{} was not checked", directory, e);
            return true;
        }
    }

    /** Creates a directory that is locked for the life of this process. */
    public static synchronized Path take(Path base) throws IOException {
        PrivateFiles.Claimed claimed = PrivateFiles.claimDirectory(
                base, PREFIX + ProcessHandle.current().pid() + "-", LOCK);
        HELD.add(claimed.lock());
        OWN.add(claimed.path().getFileName().toString());
        return claimed.path();
    }

    /** Removes the directories of this user's ended processes. */
    static synchronized void sweep(Path base) throws IOException {
        PrivateFiles.removeLeft(base, name -> name.startsWith(PREFIX) && !OWN.contains(name), LOCK, LEAST_AGE);
    }

    /** Removes a directory of temporary files, if that is possible. */
    public static void remove(Path directory) {
        delete(directory);
    }

    private static void delete(Path directory) {
        try {
            PrivateFiles.delete(directory);
        } catch (IOException | RuntimeException e) {
            LOG.debug("{} was not removed; the next process retries", directory, e);
        }
    }
}

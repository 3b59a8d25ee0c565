package dev.stoker.cli;

import dev.stoker.feeder.StokerHome;
import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Temporary files of this process, in a directory of its own that only its user can enter: Flink unpacks 24 MB at each start,
 * and a process that is killed cannot remove them. The directory goes with the process, or with the next process that looks.
 *
 * <p>Whose process lives is told by a lock, which the system lets go of however the process dies; process ids differ between
 * containers that share a temporary directory. Guarded by the class.
 */
final class ScratchDirectory {
    static final String PREFIX = "stoker-scratch-";
    private static final Logger LOG = LoggerFactory.getLogger(ScratchDirectory.class);
    private static final String LOCK = "lock";
    /** More than Flink unpacks. */
    private static final long LEAST_BYTES = 64 << 20;
    /** A directory without a lock may be one that is being made. */
    private static final Duration LEAST_AGE = Duration.ofMinutes(1);
    /** Kept, since a channel that nobody knows any more is closed. */
    private static final List<FileChannel> HELD = new ArrayList<>();
    /** Directories of this process. Opening the lock of one again would give it up. */
    private static final Set<String> OWN = new HashSet<>();

    private ScratchDirectory() {}

    /**
     * Sends this process's temporary files to a directory of its own.
     *
     * @throws CommandException if there is no place for one
     */
    static void use() throws CommandException {
        Path base = Path.of(System.getProperty("java.io.tmpdir"));
        Path own = takeFirst(List.of(base, StokerHome.directory().resolve("tmp")));
        System.setProperty("java.io.tmpdir", own.toString());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(own), "scratch"));
    }

    /** Makes a directory in the first place that has room; never in the open, where others could plant files. */
    static Path takeFirst(List<Path> places) throws CommandException {
        List<String> reasons = new ArrayList<>();
        for (int i = 0; i < places.size(); i++) {
            Path place = places.get(i);
            try {
                if (i > 0) {
                    PrivateFiles.createDirectories(place);
                }
                sweep(place);
                requireRoom(place);
                return take(place);
            } catch (IOException | UnsupportedOperationException e) {
                reasons.add(place + ": " + reason(e));
                LOG.warn("No temporary files in {}", place, e);
            }
        }
        throw new CommandException("there is no place for temporary files (" + String.join("; ", reasons)
                + "); free some space, or choose another place with STOKER_JAVA_OPTS=-Djava.io.tmpdir=DIRECTORY");
    }

    private static String reason(Exception e) {
        return e instanceof AccessDeniedException
                ? "no permission"
                : e instanceof NoSuchFileException
                        ? "there is no such directory"
                        : e instanceof FileSystemException known && known.getReason() != null
                                ? known.getReason()
                                : String.valueOf(e.getMessage());
    }

    private static void requireRoom(Path place) throws IOException {
        long room = Files.getFileStore(place).getUsableSpace();
        if (room < LEAST_BYTES) {
            throw new IOException(Units.bytes(room) + " are free, " + Units.bytes(LEAST_BYTES) + " are needed");
        }
    }

    /** Makes a directory that is locked for as long as this process lives. */
    static synchronized Path take(Path base) throws IOException {
        PrivateFiles.Claimed claimed = PrivateFiles.claimDirectory(
                base, PREFIX + ProcessHandle.current().pid() + "-", LOCK);
        HELD.add(claimed.lock());
        OWN.add(claimed.path().getFileName().toString());
        return claimed.path();
    }

    /** Removes the directories of this user's processes that are no more. */
    static synchronized void sweep(Path base) throws IOException {
        PrivateFiles.removeLeft(base, name -> name.startsWith(PREFIX) && !OWN.contains(name), LOCK, LEAST_AGE);
    }

    private static void delete(Path directory) {
        try {
            PrivateFiles.delete(directory);
        } catch (IOException | RuntimeException e) {
            LOG.debug("{} is left for the next process", directory, e);
        }
    }
}

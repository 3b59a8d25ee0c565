package dev.stoker.cli;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Temporary files of this process, in a directory of its own: Flink unpacks 24 MB at each start, and a process that is killed
 * cannot remove them. The directory goes with the process, or with the next process that looks.
 *
 * <p>Whose process lives is told by a lock, which the system lets go of however the process dies; process ids differ between
 * containers that share a temporary directory.
 */
final class ScratchDirectory {
    static final String PREFIX = "stoker-scratch-";
    private static final Logger LOG = LoggerFactory.getLogger(ScratchDirectory.class);
    private static final String LOCK = "lock";
    /** Kept, since a channel that nobody knows any more is closed. */
    private static final List<FileChannel> HELD = new ArrayList<>();

    private ScratchDirectory() {}

    /** Lets this process's temporary files go to a directory of its own, where one can be made. */
    static void use() {
        Path base = Path.of(System.getProperty("java.io.tmpdir"));
        try {
            sweep(base);
            Path own = take(base);
            System.setProperty("java.io.tmpdir", own.toString());
            Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(own), "scratch"));
        } catch (IOException | UnsupportedOperationException e) {
            LOG.warn("Temporary files go to {} itself", base, e);
        }
    }

    /** Makes a directory that is locked for as long as this process lives. */
    static Path take(Path base) throws IOException {
        Path own = Files.createDirectory(
                base.resolve(PREFIX + ProcessHandle.current().pid() + "-" + System.nanoTime()),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        FileChannel lock = FileChannel.open(own.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        lock.lock();
        synchronized (HELD) {
            HELD.add(lock);
        }
        return own;
    }

    /** Removes the directories of processes that are no more. */
    static void sweep(Path base) throws IOException {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(base, PREFIX + "*")) {
            for (Path directory : found) {
                if (isLeft(directory)) {
                    delete(directory);
                }
            }
        }
    }

    private static boolean isLeft(Path directory) {
        Path file = directory.resolve(LOCK);
        // A directory without a lock is just being made; one of another user cannot be opened.
        if (!Files.isWritable(file)) {
            return false;
        }
        try (FileChannel lock = FileChannel.open(file, StandardOpenOption.WRITE)) {
            return lock.tryLock() != null;
        } catch (IOException | IllegalStateException e) {
            return false;
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> found = Files.walk(directory)) {
            List<Path> deepestFirst = found.sorted(Comparator.reverseOrder()).toList();
            for (Path path : deepestFirst) {
                Files.deleteIfExists(path);
            }
        } catch (IOException | RuntimeException e) {
            LOG.debug("{} is left for the next process", directory, e);
        }
    }
}

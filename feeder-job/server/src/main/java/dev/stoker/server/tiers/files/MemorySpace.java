package dev.stoker.server.tiers.files;

import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chunks that this process keeps as files in memory, in a private directory in a tmpfs that only its user can access.
 *
 * <p>Layout: {@code <tmpfs>/stoker-tier-<random>/<last two hex digits>/<chunk id>.arrow}, and beside them a file {@code
 * *.ref} that the process holds locked. A directory whose lock is not held was left by a killed process; the next
 * feeder of the same user removes it. The directory is removed when the feed ends, or when the process exits normally.
 */
public final class MemorySpace implements ChunkSpace {
    /** Where Linux mounts a file system in memory. */
    public static final Path TMPFS = Path.of("/dev/shm");

    private static final Logger LOG = LoggerFactory.getLogger(MemorySpace.class);
    private static final String PREFIX = "stoker-tier-";
    private static final String REFERENCE = ".ref";
    /** Other processes that remove left directories may interfere once or twice, but not every time. */
    private static final int TRIES = 8;
    /**
     * One part in this number, an eighth of a tmpfs, is left to other users: DataLoader workers die when a tmpfs is
     * full.
     */
    private static final int OTHERS = 8;
    /** How long a feed that the same signal ends may take. Flink waits 5 s for an exiting process. */
    private static final long EXIT_SECONDS = 3;

    private final Path space;
    private final CacheLock claim;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread atExit = new Thread(this::removeAtExit, "stoker-memory-files");

    private MemorySpace(Path space, CacheLock claim) {
        this.space = space;
        this.claim = claim;
    }

    /**
     * Creates a directory of this process.
     *
     * @throws IOException if it cannot be created there
     */
    public static MemorySpace claim(Path tmpfs) throws IOException {
        for (int i = 1; ; i++) {
            Path space = PrivateFiles.createDirectory(tmpfs.resolve(PREFIX + UUID.randomUUID()));
            try {
                MemorySpace claimed = new MemorySpace(space, CacheLock.ofProcess(space, REFERENCE, CacheAccess.USER));
                Runtime.getRuntime().addShutdownHook(claimed.atExit);
                return claimed;
            } catch (IOException | IllegalStateException e) {
                PrivateFiles.delete(space);
                if (i == TRIES || e instanceof IllegalStateException) {
                    throw new IOException("cannot keep a directory in " + tmpfs, e);
                }
            }
        }
    }

    /**
     * Returns how many bytes a tier may have in a tmpfs.
     *
     * @throws IOException if a tier cannot keep anything there; the message says why
     */
    public static long room(Path tmpfs) throws IOException {
        FileStore store;
        try {
            store = Files.getFileStore(tmpfs);
        } catch (NoSuchFileException e) {
            throw new IOException("there is no " + tmpfs + " on this machine", e);
        }
        if (!store.type().equals("tmpfs")) {
            throw new IOException(tmpfs + " is not a tmpfs but " + store.type());
        }
        if (!Files.isWritable(tmpfs)) {
            throw new IOException(tmpfs + " cannot be written");
        }
        return Math.max(0, store.getUsableSpace() - store.getTotalSpace() / OTHERS);
    }

    /**
     * Removes the directories of killed processes of this user. A directory that cannot be removed is logged and left.
     */
    public static synchronized void removeLeft(Path tmpfs) {
        try {
            for (Path left : spaces(tmpfs)) {
                try {
                    removeUnlessUsed(left);
                } catch (IOException e) {
                    LOG.warn("{} was left by a feeder that was killed, and cannot be removed", left, e);
                }
            }
        } catch (IOException e) {
            LOG.debug("Cannot list {}", tmpfs, e);
        }
    }

    /** Returns the directories of this user. */
    private static List<Path> spaces(Path tmpfs) throws IOException {
        try (Stream<Path> found = Files.list(tmpfs)) {
            return found.filter(path -> path.getFileName().toString().startsWith(PREFIX))
                    .filter(PrivateFiles::isOwnDirectory)
                    .sorted()
                    .toList();
        } catch (NoSuchFileException | NotDirectoryException e) {
            return List.of();
        }
    }

    private static void removeUnlessUsed(Path space) throws IOException {
        for (Path reference : CacheSpace.references(space)) {
            Optional<CacheLock> taken = CacheLock.takeOver(reference);
            if (taken.isEmpty()) {
                return;
            }
            LOG.info("{} was left by a feeder that was killed; it is removed", space);
            // Its lock is held until the directory is gone, so that a process which is about to lock it notices.
            delete(space, taken.get());
            return;
        }
        // Another process is creating the directory, and will retry with another name; or its removal was interrupted.
        Files.deleteIfExists(space);
    }

    /** Removes a directory. The lock file, which identifies it, is removed last. */
    private static void delete(Path space, CacheLock lock) throws IOException {
        try (Stream<Path> found = Files.list(space)) {
            for (Path path : found.toList()) {
                if (!path.toString().endsWith(REFERENCE)) {
                    PrivateFiles.delete(path);
                }
            }
        } catch (IOException | RuntimeException e) {
            lock.letGo();
            throw e;
        }
        lock.close();
        Files.deleteIfExists(space);
    }

    @Override
    public Path path(UUID id) {
        return CacheSpace.path(space, id);
    }

    @Override
    public Map<UUID, Long> list() throws IOException {
        return CacheSpace.list(space);
    }

    /** Does nothing, because the directory is new. */
    @Override
    public void removeUnfinished() {}

    @Override
    public boolean isShared() {
        return false;
    }

    @Override
    public FileLock lockLoad(UUID id) {
        throw new UnsupportedOperationException(space + " is not shared");
    }

    @Override
    public boolean isMemory() {
        return true;
    }

    /** Removes the directory at exit. A feed that ends normally still serves from its files for a moment. */
    private void removeAtExit() {
        try {
            if (!closed.await(EXIT_SECONDS, TimeUnit.SECONDS)) {
                remove();
            }
        } catch (InterruptedException e) {
            remove();
        }
    }

    private synchronized void remove() {
        try {
            delete(space, claim);
        } catch (NoSuchFileException e) {
            LOG.debug("{} has been removed already", space, e);
        } catch (IOException e) {
            LOG.warn("{} is left behind; the next feeder of this machine removes it", space, e);
        }
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            LOG.debug("Removing {} while the process ends", space, e);
        }
        remove();
        closed.countDown();
    }

    @Override
    public String toString() {
        return space.toString();
    }
}

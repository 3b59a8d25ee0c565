package dev.stoker.server.tiers.files;

import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A file that the system keeps locked while this process lives and needs it, so that no lock is left over however the
 * process ends. POSIX releases all locks of a process on a file when the process closes any descriptor of the file.
 * Long-lived locks therefore have separate files, and a process never opens its own lock files again.
 */
final class CacheLock implements AutoCloseable {
    /** The id of this process, shared by all class loaders. */
    private static final String PROCESS = (String) System.getProperties()
            .computeIfAbsent("stoker.cache.process", key -> UUID.randomUUID().toString());

    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final @Nullable Path file;
    private final FileChannel channel;

    private CacheLock(@Nullable Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    /**
     * Locks a new file of this process. Its name ends with {@code suffix}.
     *
     * @throws IOException if it cannot be created, or another process took it over before it was locked
     */
    static CacheLock ofProcess(Path directory, String suffix, CacheAccess access) throws IOException {
        Path file = directory.resolve(PROCESS + "-" + UUID.randomUUID() + suffix);
        FileChannel channel = access.createFile(file);
        if (channel.tryLock() == null || !Files.exists(file)) {
            channel.close();
            throw new IOException(file + " was taken over by another process before it was locked");
        }
        return new CacheLock(file, channel);
    }

    /**
     * Takes over a file that a process created with {@link #ofProcess}, if the process has ended. Closing the lock
     * removes the file.
     *
     * @return empty if the process lives, or another one takes the file over
     */
    static Optional<CacheLock> takeOver(Path file) throws IOException {
        if (file.getFileName().toString().startsWith(PROCESS)) {
            return Optional.empty();
        }
        FileChannel channel;
        try {
            channel = PrivateFiles.openExistingLock(file);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        try {
            if (channel.tryLock() != null && Files.exists(file)) {
                return Optional.of(new CacheLock(file, channel));
            }
        } catch (OverlappingFileLockException e) {
            // Another feed of this process takes it over.
        }
        channel.close();
        return Optional.empty();
    }

    /** Returns whether the process that created a file with {@link #ofProcess} still holds its lock. */
    static boolean isHeld(Path file) throws IOException {
        if (file.getFileName().toString().startsWith(PROCESS)) {
            return true;
        }
        try (FileChannel channel = PrivateFiles.openExistingLock(file)) {
            return channel.tryLock() == null;
        } catch (OverlappingFileLockException e) {
            return true;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /**
     * Waits for a file that is locked only for short times.
     *
     * @throws IOException if it is not free within the limit
     */
    static CacheLock await(Path file, long limitMs, CacheAccess access) throws IOException {
        FileChannel channel = access.openLock(file);
        try {
            lock(channel, 0, Long.MAX_VALUE, limitMs, file);
            return new CacheLock(null, channel);
        } catch (IOException | RuntimeException | Error e) {
            channel.close();
            throw e;
        }
    }

    /**
     * Waits for a range of an open file.
     *
     * @throws IOException if it is not free within the limit
     */
    static FileLock lock(FileChannel channel, long from, long size, long limitMs, Path file) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMs);
        while (true) {
            try {
                FileLock lock = channel.tryLock(from, size, false);
                if (lock != null) {
                    return lock;
                }
            } catch (OverlappingFileLockException e) {
                // Another feed of this process has it.
            }
            if (System.nanoTime() > end || Thread.currentThread().isInterrupted()) {
                throw new IOException(file + " has been locked by another process for more than " + limitMs + " ms");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /** Returns the file of a lock that was created with {@link #ofProcess}. */
    Path file() {
        return Objects.requireNonNull(file, "the lock of a process has a file");
    }

    /** Releases the lock and leaves its file. */
    void letGo() throws IOException {
        channel.close();
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            Files.deleteIfExists(file);
        }
        channel.close();
    }
}

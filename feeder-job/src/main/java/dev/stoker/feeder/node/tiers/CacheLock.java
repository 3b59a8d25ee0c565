package dev.stoker.feeder.node.tiers;

import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A file that the system holds locked for as long as this process lives and wants it, so that none is left over however the process
 * ends. POSIX gives up all locks of a process on a file when it closes any descriptor of it; so locks that last have files of
 * their own, and nobody looks into those of its own process.
 */
final class CacheLock implements AutoCloseable {
    /** Of this process, whichever class loader asks. */
    private static final String PROCESS = (String) System.getProperties()
            .computeIfAbsent("stoker.cache.process", key -> UUID.randomUUID().toString());

    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Path file;
    private final FileChannel channel;

    private CacheLock(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    /**
     * Locks a new file of this process; its name ends with {@code suffix}.
     *
     * @throws IOException if it cannot be made, or another process has taken it over before it was locked
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
     * Takes over a file that a process made with {@link #ofProcess} which has ended since; closing removes it.
     *
     * @return empty if the process lives, or another one takes it over
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

    /** Whether the process that made a file with {@link #ofProcess} still holds it. */
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
     * Waits for a file that is locked for moments only.
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
     * Waits for a range of a file that is open.
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
                throw new IOException(file + " is locked by another process for over " + limitMs + " ms");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /** The file of a lock that was made with {@link #ofProcess}. */
    Path file() {
        return file;
    }

    /** Gives the lock up and leaves its file. */
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

package dev.stoker.feeder.registry;

import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * The lock of the one process that may serve a feed of a name. The system releases it when the process ends in any way.
 */
public final class FeedLock implements AutoCloseable {

    private final FileChannel channel;

    private FeedLock(FileChannel channel) {
        this.channel = channel;
    }

    /** Acquires the lock of a name; empty if another process, or another part of this one, has it. */
    public static Optional<FeedLock> tryTake(String name) throws IOException {
        Path file = FeedRegister.beside(name, ".lock");
        PrivateFiles.createDirectories(Objects.requireNonNull(file.getParent(), "it lies beside the feed's file"));
        FileChannel channel = PrivateFiles.openLock(file);
        try {
            FileLock lock = channel.tryLock();
            if (lock != null) {
                return Optional.of(new FeedLock(channel));
            }
        } catch (OverlappingFileLockException e) {
            // This process itself holds the lock.
            channel.close();
            return Optional.empty();
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        channel.close();
        return Optional.empty();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}

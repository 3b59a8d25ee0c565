package dev.stoker.cli;

import dev.stoker.feeder.plan.StokerHome;
import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.util.Objects;

/**
 * The lock of the one process that may serve a feed of a name. The system releases it when the process ends in any way.
 */
final class FeedLock implements AutoCloseable {

    private final FileChannel channel;

    private FeedLock(FileChannel channel) {
        this.channel = channel;
    }

    /**
     * Acquires the lock of a name.
     *
     * @throws CommandException if another process has it
     */
    static FeedLock take(String name) throws IOException {
        Path file = StokerHome.feedFile(name).resolveSibling(name + ".lock");
        PrivateFiles.createDirectories(Objects.requireNonNull(file.getParent(), "it lies beside the feed's file"));
        FileChannel channel = PrivateFiles.openLock(file);
        try {
            FileLock lock = channel.tryLock();
            if (lock != null) {
                return new FeedLock(channel);
            }
        } catch (OverlappingFileLockException e) {
            // This process itself holds the lock.
            channel.close();
            throw taken(name);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        channel.close();
        throw taken(name);
    }

    private static CommandException taken(String name) throws IOException {
        String pid = FeedFile.find(name)
                .filter(feed -> feed.state() == FeedFile.State.RUNNING)
                .map(feed -> " (pid " + feed.pid() + ")")
                .orElse("");
        return new CommandException("a feed " + name + " is already running" + pid + "; stop it with stoker stop "
                + name + ", or use another --name");
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}

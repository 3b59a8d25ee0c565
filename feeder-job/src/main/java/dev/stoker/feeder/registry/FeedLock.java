package dev.stoker.feeder.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.json.Json;
import dev.stoker.storage.PrivateFiles;
import dev.stoker.transport.RegularFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The lock of the one feed that may have a name on a machine. A command holds it for a feed in its own process, the
 * coordinator for a job on a Flink cluster. The system releases it when the process ends in any way. Any thread.
 *
 * <p>A process that closes any descriptor of a file loses its locks on that file. A JobManager has coordinators of
 * several jobs, which have separate class loaders. So the JVM notes its locks in its system properties, which all
 * class loaders share, and does not open a file that it has locked.
 */
public final class FeedLock implements AutoCloseable {
    private static final String HELD_HERE = "stoker.feed-lock.";
    private static final int MAX_BYTES = 4096;

    private final String property;
    private final FileChannel channel;

    private FeedLock(String property, FileChannel channel) {
        this.property = property;
        this.channel = channel;
    }

    /**
     * Acquires the lock for a feed in this process.
     *
     * @throws FeedRunningException if another feed has it; the message names that feed and the next step
     */
    public static FeedLock take(String name) throws IOException {
        Optional<FeedLock> lock = tryTake(name, "");
        if (lock.isPresent()) {
            return lock.get();
        }
        throw running(name);
    }

    /**
     * Acquires the lock; empty if another process, or another part of this one, has it.
     *
     * @param job id of the feed's Flink job; empty for a feed in its own process
     */
    public static Optional<FeedLock> tryTake(String name, String job) throws IOException {
        Path file = file(name);
        String property = HELD_HERE + file;
        byte[] content = content(job);
        if (System.getProperties().putIfAbsent(property, job) != null) {
            return Optional.empty();
        }
        FileChannel channel = null;
        try {
            PrivateFiles.createDirectories(Objects.requireNonNull(file.getParent(), "it lies beside the feed's file"));
            channel = PrivateFiles.openLock(file);
            FileLock lock = channel.tryLock();
            if (lock != null) {
                channel.truncate(0);
                channel.write(ByteBuffer.wrap(content));
                return Optional.of(new FeedLock(property, channel));
            }
        } catch (IOException | RuntimeException e) {
            release(property, channel);
            throw e;
        }
        release(property, channel);
        return Optional.empty();
    }

    /**
     * Checks that no feed of this machine has a name, before a job is submitted. The job's coordinator takes the lock.
     *
     * @throws FeedRunningException if a feed has it; the message names that feed and the next step
     */
    public static void requireFree(String name) throws IOException {
        take(name).close();
    }

    /** Returns whether a running feed of this machine has a name. */
    public static boolean isHeld(String name) throws IOException {
        Path file = file(name);
        if (System.getProperty(HELD_HERE + file) != null) {
            return true;
        }
        try (FileChannel channel = PrivateFiles.openExistingLock(file)) {
            // Shared, so that two questions at a time do not see each other.
            FileLock lock = channel.tryLock(0, Long.MAX_VALUE, true);
            return lock == null;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** Returns the error for a name that another feed has. */
    public static FeedRunningException running(String name) {
        JsonNode holder = holder(file(name));
        String place = "";
        if (holder.has("job")) {
            place = " on a Flink cluster (job " + holder.path("job").asText() + ")";
        } else if (holder.has("pid")) {
            place = " (pid " + holder.path("pid").asLong() + ")";
        }
        return new FeedRunningException("a feed " + name + " is already running" + place + "; stop it with stoker stop "
                + name + ", or give another name with --name NAME");
    }

    /** Returns whether the holder of a lock is this job. */
    static boolean isOf(String name, String job) {
        return holder(file(name)).path("job").asText().equals(job);
    }

    /** Returns what the holder of a lock wrote; a missing node if that is unknown. */
    private static JsonNode holder(Path file) {
        String job = System.getProperty(HELD_HERE + file);
        try {
            return Json.PLAIN.readTree(job == null ? RegularFile.read(file, MAX_BYTES) : content(job));
        } catch (IOException e) {
            // The refusal is right without it.
            return MissingNode.getInstance();
        }
    }

    private static byte[] content(String job) throws IOException {
        ObjectNode json = Json.object().put("pid", ProcessHandle.current().pid());
        return Json.PLAIN.writeValueAsBytes(job.isEmpty() ? json : json.put("job", job));
    }

    private static Path file(String name) {
        return FeedRegister.beside(name, ".lock");
    }

    private static void release(String property, @Nullable FileChannel channel) throws IOException {
        try {
            if (channel != null) {
                channel.close();
            }
        } finally {
            System.clearProperty(property);
        }
    }

    @Override
    public void close() throws IOException {
        if (channel.isOpen()) {
            release(property, channel);
        }
    }
}

package dev.stoker.client.transport;

import dev.stoker.client.errors.ConnectionLostException;
import dev.stoker.client.errors.LocalReadException;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.FileAnnouncement;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The files that one feeder has announced on one connection, and the messages that are read from them. The client reads
 * files with {@code pread} and never maps them: if a mapped file is truncated, computing a checksum of it ends the JVM.
 * For the input thread.
 */
public final class LocalReads implements AutoCloseable {
    private static final int MOST = 4096;
    /** A connection may use one descriptor in this number of the process's descriptors. */
    private static final int SHARE = 8;

    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final Pattern OPEN_FILES = Pattern.compile("Max open files +([0-9]+|unlimited) .*");

    private static final int RELEASE_EVERY = 16;
    /** The bytes that are read before they are summed: small enough to stay in the core's cache. */
    private static final int STRIDE = 512 << 10;

    private record Opened(FileChannel channel, long length) {}

    private final int limit;
    private final Map<Long, Opened> files = new HashMap<>();
    private final CRC32C crc = new CRC32C();
    private long references;
    private long told;

    /** @param limit the most files at a time, as agreed with the feeder */
    public LocalReads(int limit) {
        this.limit = limit;
    }

    /** How many files a connection of this process can keep open; 0 if unknown. */
    public static int most() {
        try {
            for (String line : Files.readAllLines(LIMITS)) {
                Matcher limit = OPEN_FILES.matcher(line);
                if (limit.matches()) {
                    return limit.group(1).equals("unlimited")
                            ? MOST
                            : (int) Math.min(MOST, Long.parseLong(limit.group(1)) / SHARE);
                }
            }
        } catch (IOException e) {
            return 0;
        }
        return 0;
    }

    /**
     * Opens a file that the feeder has announced.
     *
     * @throws LocalReadException if this machine does not have the same file as the feeder
     */
    public void announce(FileAnnouncement file) throws LocalReadException, ConnectionLostException {
        if (file.file() >= limit) {
            throw ConnectionLostException.broken("FILE frame of file " + file.file() + ", agreed were " + limit);
        }
        forget(file.file());
        FileChannel channel = null;
        try {
            Path path = Path.of(file.path());
            channel = FileChannel.open(path, StandardOpenOption.READ);
            Map<String, Object> found = Files.readAttributes(path, "unix:dev,ino");
            if (!Objects.equals(found.get("dev"), file.device())
                    || !Objects.equals(found.get("ino"), file.inode())
                    || channel.size() != file.length()) {
                throw new LocalReadException(file.path() + " is not the same file here as on the feeder");
            }
            files.put(file.file(), new Opened(channel, file.length()));
            channel = null;
        } catch (IOException | RuntimeException e) {
            throw new LocalReadException(file.path() + ": " + e);
        } finally {
            close(channel);
        }
    }

    /**
     * Assembles the message that a reference describes.
     *
     * @param message a buffer of exactly the message's size, filled from index 0
     * @return the message's checksum, empty if bytes could not be read
     * @throws ConnectionLostException if the reference uses a file that was not announced
     */
    public OptionalInt read(BatchRef reference, ByteBuffer message) throws ConnectionLostException {
        references++;
        for (BatchRef.Slice slice : reference.slices()) {
            Opened file = files.get(slice.file());
            boolean isThere =
                    slice.file() == BatchRef.ZEROS || (file != null && slice.offset() <= file.length - slice.length());
            if (!isThere) {
                throw ConnectionLostException.broken("BATCH_REF frame refers to a file that was not announced");
            }
        }
        crc.reset();
        message.clear().limit(reference.header().messageBytes());
        message.put(reference.inline().duplicate());
        int summed = 0;
        for (BatchRef.Slice slice : reference.slices()) {
            if (!take(slice, message)) {
                return OptionalInt.empty();
            }
            if (message.position() - summed >= STRIDE) {
                summed = sum(message, summed);
            }
        }
        sum(message, summed);
        message.flip();
        return OptionalInt.of((int) crc.getValue());
    }

    private int sum(ByteBuffer message, int from) {
        crc.update(message.duplicate().flip().position(from));
        return message.position();
    }

    private boolean take(BatchRef.Slice slice, ByteBuffer message) {
        int end = message.position() + (int) slice.length();
        if (slice.file() == BatchRef.ZEROS) {
            while (message.position() < end) {
                message.put((byte) 0);
            }
            return true;
        }
        FileChannel channel = Objects.requireNonNull(files.get(slice.file()), "read() has checked it").channel;
        int whole = message.limit();
        long at = slice.offset();
        try {
            message.limit(end);
            while (message.hasRemaining()) {
                int count = channel.read(message, at);
                if (count <= 0) {
                    return false;
                }
                at += count;
            }
            return true;
        } catch (IOException e) {
            // As with a truncated file, the piece is sent over the connection instead.
            return false;
        } finally {
            message.limit(whole);
        }
    }

    /** How many references to report to the feeder as read, if a report is due. */
    public OptionalLong due() {
        if (references - told < RELEASE_EVERY) {
            return OptionalLong.empty();
        }
        told = references;
        return OptionalLong.of(told);
    }

    int size() {
        return files.size();
    }

    private void forget(long file) {
        Opened opened = files.remove(file);
        if (opened != null) {
            close(opened.channel);
        }
    }

    private static void close(@Nullable FileChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // The file was only read.
        }
    }

    @Override
    public void close() {
        files.values().forEach(opened -> close(opened.channel));
        files.clear();
    }
}

package dev.stoker.server.chunks;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bytes that the kernel had to read from a disk for one thread, page faults within its system calls included, as Linux
 * counts them. For the thread that made it, which closes it as well.
 */
final class ThreadReads implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ThreadReads.class);
    private static final String COUNTS = "/proc/thread-self/io";
    private static final String KEY = "read_bytes: ";

    /** Null where the kernel does not tell. Not a channel: that would be closed when the thread is interrupted. */
    private @Nullable RandomAccessFile counts;

    private final byte[] text = new byte[512];

    ThreadReads() {
        try {
            counts = new RandomAccessFile(COUNTS, "r");
        } catch (IOException | RuntimeException e) {
            LOG.debug("Cannot measure what this thread reads from disks: {}", e.toString());
        }
    }

    /** Whether the kernel tells. */
    boolean isKnown() {
        return counts != null;
    }

    /** Bytes so far; always the same where the kernel does not tell. */
    long bytes() {
        if (counts == null) {
            return 0;
        }
        try {
            counts.seek(0);
            int length = Math.max(0, counts.read(text));
            String lines = new String(text, 0, length, StandardCharsets.US_ASCII);
            int at = lines.indexOf(KEY) + KEY.length();
            return at < KEY.length() ? 0 : Long.parseLong(lines.substring(at, lines.indexOf('\n', at)));
        } catch (IOException | RuntimeException e) {
            LOG.debug("Can no longer measure what this thread reads from disks: {}", e.toString());
            close();
            return 0;
        }
    }

    @Override
    public void close() {
        if (counts != null) {
            try {
                counts.close();
            } catch (IOException e) {
                LOG.debug("{} did not close cleanly", COUNTS, e);
            }
            counts = null;
        }
    }
}

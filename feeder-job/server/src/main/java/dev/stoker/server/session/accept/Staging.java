package dev.stoker.server.session.accept;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies parts of a piece into separate memory without touching them: the kernel reads the mapped pages. If a file was
 * truncated or its disk fails, the copy returns an error, as a write to a socket does, and no signal ends the process.
 * One thread.
 */
final class Staging implements AutoCloseable {
    /** Enough for eight full TLS records. More bytes at a time save no measurable time. */
    static final int BYTES = 128 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(Staging.class);
    private static final Path TMPFS = Path.of("/dev/shm");

    /** The memory. */
    sealed interface Medium extends AutoCloseable permits StagingFile, StagingPipe {
        /**
         * Copies the beginning of parts that have at most {@link #BYTES}, and moves their positions.
         *
         * @return the bytes taken, until the next call; perhaps not all, but one at least
         * @throws IOException if the first of them cannot be read
         */
        ByteBuffer copy(ByteBuffer[] parts, int from, int count) throws IOException;

        @Override
        void close() throws IOException;
    }

    private final Medium medium;

    private Staging(Medium medium) {
        this.medium = medium;
    }

    static Staging open() throws IOException {
        return open(TMPFS);
    }

    /** @param tmpfs a directory in memory; if no file can be created there, a pipe is used, which is slower */
    static Staging open(Path tmpfs) throws IOException {
        try {
            return new Staging(new StagingFile(tmpfs));
        } catch (IOException | UnsupportedOperationException e) {
            LOG.debug("No staging file in {}; a pipe is used", tmpfs, e);
            return new Staging(new StagingPipe());
        }
    }

    Medium medium() {
        return medium;
    }

    /**
     * Takes the beginning of the parts.
     *
     * @param most greatest number of bytes to take, at most {@link #BYTES}
     * @return the bytes taken, until the next call
     * @throws IOException if the first of them cannot be read
     */
    ByteBuffer take(ByteBuffer[] parts, int from, int count, int most) throws IOException {
        int few = 0;
        long bytes = 0;
        while (few < count && bytes < most) {
            bytes += parts[from + few].remaining();
            few++;
        }
        int cut = (int) Math.max(0, bytes - most);
        ByteBuffer last = parts[from + few - 1];
        int limit = last.limit();
        last.limit(limit - cut);
        try {
            return medium.copy(parts, from, few);
        } finally {
            last.limit(limit);
        }
    }

    @Override
    public void close() throws IOException {
        medium.close();
    }
}

package dev.stoker.server.session;

import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.server.session.accept.Wire;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.Lock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gathering writes to one blocking connection, one frame at a time.
 *
 * <p>A write that cannot read its source, because a mapped file was truncated or its disk fails, ends in an error while
 * the connection is well. The rest of the frame is then filled with zeros: the peer finds its checksum wrong and asks
 * again.
 */
final class PieceChannel {
    private static final Logger LOG = LoggerFactory.getLogger(PieceChannel.class);

    /** What Linux takes in one call; the JDK copies the addresses of no more. */
    private static final int MAX_PARTS = 1024;

    private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(64 << 10).asReadOnlyBuffer();

    /** What is done while nobody writes. */
    interface Action {
        void run() throws IOException;
    }

    private final Wire channel;
    private final Lock writing;

    /** @param writing a lock that is held while a frame is written; nobody else uses it */
    PieceChannel(Wire channel, Lock writing) {
        this.channel = channel;
        this.writing = writing;
    }

    /**
     * Writes all parts.
     *
     * @param bytes in all parts
     * @return whether every byte came from the parts; false if some were zeros instead
     * @throws IOException if the connection is lost
     */
    boolean write(ByteBuffer[] parts, long bytes) throws IOException {
        writing.lock();
        try {
            return writeAll(parts, bytes);
        } finally {
            writing.unlock();
        }
    }

    /** Writes a control frame. */
    void write(Frame frame) throws IOException {
        ByteBuffer bytes = Frames.encode(frame);
        write(new ByteBuffer[] {bytes}, bytes.remaining());
    }

    /** Does something while nobody else writes, or not at all if somebody does. */
    void whileQuiet(Action action) throws IOException {
        if (writing.tryLock()) {
            try {
                action.run();
            } finally {
                writing.unlock();
            }
        }
    }

    private boolean writeAll(ByteBuffer[] parts, long bytes) throws IOException {
        long left = bytes;
        int from = 0;
        try {
            while (left > 0) {
                left -= channel.write(parts, from, Math.min(MAX_PARTS, parts.length - from));
                while (from < parts.length && !parts[from].hasRemaining()) {
                    from++;
                }
            }
            return true;
        } catch (IOException e) {
            if (!channel.isOpen() || parts.length == 1) {
                throw e;
            }
            LOG.debug("A piece cannot be read to its end", e);
            // Header and small columns are memory of ours and go out as they are.
            left -= parts[0].remaining();
            writeFully(parts[0], e);
            writeZeros(left, e);
            return false;
        }
    }

    private void writeZeros(long bytes, IOException first) throws IOException {
        for (long left = bytes; left > 0; left -= ZEROS.capacity()) {
            writeFully(ZEROS.duplicate().limit((int) Math.min(left, ZEROS.capacity())), first);
        }
    }

    private void writeFully(ByteBuffer bytes, IOException first) throws IOException {
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException e) {
            e.addSuppressed(first);
            throw e;
        }
    }

    Wire channel() {
        return channel;
    }

    /** Ends the output if the connection is still there. */
    void shut() {
        try {
            channel.shutdownOutput();
        } catch (IOException e) {
            LOG.debug("A connection did not end cleanly", e);
        }
    }
}

package dev.stoker.client.feeder;

import dev.stoker.client.errors.ConnectionLostException;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.FrameType;
import dev.stoker.schemas.protocol.Protocol;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Receives the frames of one connection, and passes them to its sink. Messages of batches go directly into separate
 * buffers. A reader knows frames and checksums, but not lanes or epochs. Only the input thread calls it, except for the
 * two counts.
 */
final class FrameReader {
    /** Bytes that are received and summed at a time: few enough to stay in the cache for the sum. */
    private static final int SEGMENT = 512 << 10;

    private static final int PREFIX = 8;
    private static final int LENGTH = 4;

    private final FeederConnection connection;
    private final FeederConnection.Sink sink;
    private final FrameDecoder decoder = FrameDecoder.forClient();
    private final ByteBuffer head = ByteBuffer.allocateDirect(BatchHeader.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer scratch = ByteBuffer.allocate(64 << 10);
    private final CRC32C crc = new CRC32C();
    /** The message of the batch that is being received; null between batches. */
    private @Nullable ByteBuffer message;
    /** Bytes of the other frame that is being received; 0 between frames. */
    private int controlLeft;

    private int limit = Protocol.MAX_BATCH;
    private volatile long bytesReceived;
    private volatile long framesReceived;

    FrameReader(FeederConnection connection, FeederConnection.Sink sink) {
        this.connection = connection;
        this.sink = sink;
        head.limit(PREFIX);
    }

    long bytesReceived() {
        return bytesReceived;
    }

    long framesReceived() {
        return framesReceived;
    }

    /** See {@link FeederConnection#limitBatches}. */
    void limitBatches(long largestBatch) {
        limit = (int) Math.min(Protocol.MAX_BATCH, Math.max(largestBatch * 2, 1 << 20) + BatchHeader.BYTES);
    }

    /** Receives until one frame is passed on (true) or nothing more is available (false). */
    boolean receive() throws ConnectionLostException {
        try {
            if (message == null && controlLeft == 0 && !begin()) {
                return false;
            }
            return message != null ? receiveMessage() : receiveControl();
        } catch (ProtocolException e) {
            throw ConnectionLostException.broken(connection.address() + ": " + e.getMessage());
        } catch (IOException e) {
            throw ConnectionLostException.lost(connection.address() + ": " + e.getMessage());
        }
    }

    /** Reads the beginning of a frame; false if more bytes are needed. */
    private boolean begin() throws IOException, ConnectionLostException {
        while (head.hasRemaining()) {
            if (read(head) == 0) {
                return false;
            }
            if (!head.hasRemaining() && head.limit() == PREFIX && head.get(LENGTH) == FrameType.BATCH.code()) {
                checkBatch();
                head.limit(BatchHeader.BYTES);
            }
        }
        if (head.limit() == PREFIX) {
            // The decoder checks direction, flags and length.
            controlLeft = PREFIX;
            return true;
        }
        message = sink.bufferFor(head.getInt(0) - (BatchHeader.BYTES - LENGTH));
        crc.reset();
        crc.update(head.duplicate().position(BatchHeader.COVERED_FROM).limit(BatchHeader.COVERED_TO));
        return true;
    }

    private void checkBatch() throws ConnectionLostException {
        long length = Integer.toUnsignedLong(head.getInt(0));
        if (!connection.isLive()) {
            throw ConnectionLostException.broken(connection.address() + " sent a BATCH before WELCOME");
        }
        long bytes = length - (BatchHeader.BYTES - LENGTH);
        if (length > limit
                || bytes < BatchHeader.BYTES
                || bytes % 64 != 0
                || head.get(5) >>> 1 != 0
                || head.getShort(6) != 0) {
            throw ConnectionLostException.broken(connection.address() + " sent a BATCH frame of length " + length
                    + ", which this stream cannot have");
        }
    }

    private boolean receiveMessage() throws IOException, ConnectionLostException {
        ByteBuffer into = Objects.requireNonNull(message, "the header has been read");
        int end = into.limit();
        while (into.position() < end) {
            int from = into.position();
            into.limit(Math.min(end, from + SEGMENT));
            int count;
            try {
                count = read(into);
            } finally {
                into.limit(end);
            }
            if (count == 0) {
                return false;
            }
            crc.update(into.duplicate().position(from).limit(from + count));
        }
        ByteBuffer whole = into.flip();
        message = null;
        ByteBuffer header = ByteBuffer.allocate(BatchHeader.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        header.put(head.flip()).flip();
        head.clear().limit(PREFIX);
        framesReceived++;
        sink.onBatch(connection, header, whole, (int) crc.getValue());
        return true;
    }

    private boolean receiveControl() throws IOException, ConnectionLostException {
        if (head.position() == PREFIX) {
            head.flip();
            long length = Integer.toUnsignedLong(head.getInt(0));
            Optional<Frame> frame = decoder.next(head);
            head.clear().limit(PREFIX);
            if (frame.isPresent()) {
                controlLeft = 0;
                return deliver(frame.get());
            }
            // The decoder has checked the length against its limit.
            controlLeft = (int) (length - (PREFIX - LENGTH));
        }
        while (controlLeft > 0) {
            scratch.clear().limit(Math.min(controlLeft, scratch.capacity()));
            int count = read(scratch);
            if (count == 0) {
                return false;
            }
            controlLeft -= count;
            Optional<Frame> frame = decoder.next(scratch.flip());
            if (frame.isPresent()) {
                return deliver(frame.get());
            }
        }
        return false;
    }

    private boolean deliver(Frame frame) throws ConnectionLostException {
        framesReceived++;
        if (frame instanceof BatchRef reference) {
            checkReference(reference);
            bytesReceived += reference.header().messageBytes();
            sink.onReference(connection, reference);
        } else {
            sink.onFrame(connection, frame);
        }
        return true;
    }

    private void checkReference(BatchRef reference) throws ConnectionLostException {
        int bytes = reference.header().messageBytes();
        if (connection.files().isEmpty()) {
            throw ConnectionLostException.broken(
                    connection.address() + " sent BATCH_REF, but local reads were not agreed");
        }
        if (bytes + (BatchHeader.BYTES - LENGTH) > limit || bytes < BatchHeader.BYTES) {
            throw ConnectionLostException.broken(connection.address() + " refers to a message of " + bytes
                    + " bytes, which this stream cannot have");
        }
    }

    private int read(ByteBuffer into) throws IOException, ConnectionLostException {
        int count = connection.wire().read(into);
        if (count < 0) {
            throw ConnectionLostException.lost(connection.address() + " closed the connection");
        }
        bytesReceived += count;
        return count;
    }

    /** Reads and discards input; false at the end of the stream. */
    boolean skip(SocketChannel channel) {
        try {
            int count;
            do {
                scratch.clear();
                count = channel.read(scratch);
            } while (count > 0);
            return count == 0;
        } catch (IOException e) {
            return false;
        }
    }
}

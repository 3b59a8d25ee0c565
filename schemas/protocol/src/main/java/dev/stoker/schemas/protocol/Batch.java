package dev.stoker.schemas.protocol;

import java.nio.ByteBuffer;

/**
 * Delivers a piece (server to client). The decoder does not verify its checksum, because the client answers a wrong one
 * with NACK and the session continues.
 */
public final class Batch implements Frame {
    private final BatchHeader header;
    private final ByteBuffer message;

    /** @param message between position and limit; not copied, and must not be changed */
    public Batch(BatchHeader header, ByteBuffer message) {
        if (header.messageBytes() != message.remaining()) {
            throw new IllegalArgumentException(
                    "a message of " + message.remaining() + " bytes under a header of " + header.messageBytes());
        }
        this.header = header;
        this.message = message.asReadOnlyBuffer();
    }

    public BatchHeader header() {
        return header;
    }

    /** Returns the Arrow record batch message as a new read-only view. */
    public ByteBuffer message() {
        return message.duplicate();
    }

    /** Returns whether header and message are intact. */
    public boolean isIntact() {
        return header.crcWith(message) == header.crc();
    }

    @Override
    public FrameType type() {
        return FrameType.BATCH;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Batch that && header.equals(that.header) && message.equals(that.message);
    }

    @Override
    public int hashCode() {
        return header.hashCode();
    }

    @Override
    public String toString() {
        return "Batch[" + header + "]";
    }
}

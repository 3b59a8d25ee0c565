package dev.stoker.schemas.batch;

import java.nio.ByteBuffer;

/**
 * Contains a record batch message in parts.
 *
 * @param rows number of samples
 * @param length bytes of the message, all parts together
 * @param crc32c checksum of the message
 * @param parts the message in order: the scratch part, then payload slices and padding. The parts are views with their
 *     own positions and limits, which a gathering write may change
 */
public record BatchMessage(int rows, int length, int crc32c, ByteBuffer[] parts) {
    /** Copies the message to the buffer's position. Does not change the parts. */
    public void writeTo(ByteBuffer dst) {
        for (ByteBuffer part : parts) {
            dst.put(part.duplicate());
        }
    }
}

package dev.stoker.schemas.chunk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.List;
import java.util.Map;

/**
 * Contains a finished chunk in memory. Its buffers belong to the builder and are valid until the builder is reset.
 *
 * @param summary the data for the log
 * @param classes class names that the chunk uses per categorical field, in the order of their chunk-local ids
 * @param missing number of rows without a class per categorical field, without zeros
 * @param buffers the file, in order; {@link #writeTo} does not change their positions
 */
public record PackedChunk(
        ChunkSummary summary, Map<String, List<String>> classes, Map<String, Long> missing, List<ByteBuffer> buffers) {
    /** Writes the file with as few calls as the channel allows; the channel must be blocking. */
    public void writeTo(GatheringByteChannel channel) throws IOException {
        ByteBuffer[] left = buffers.stream().map(ByteBuffer::duplicate).toArray(ByteBuffer[]::new);
        int first = 0;
        while (first < left.length) {
            channel.write(left, first, left.length - first);
            while (first < left.length && !left[first].hasRemaining()) {
                first++;
            }
        }
    }
}

package dev.stoker.schemas.batch;

import dev.stoker.schemas.arrow.Field;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.IntFunction;

/** Makes batch messages of a dataset. One thread at a time; the messages it has made are independent of it. */
public final class BatchBuilder {
    /** A builder for datasets with these fields, in dataset order. */
    public BatchBuilder(List<Field> fields) {
        throw new UnsupportedOperationException("not there yet " + fields);
    }

    /**
     * Makes a message of the rows {@code (chunks[chunkOf[i]], rowOf[i])} for from ≤ i &lt; to.
     *
     * @param scratch gives a buffer with at least so many bytes remaining; the message's first part is written at its
     *     position. It belongs to the message until that is sent
     */
    public BatchMessage build(
            BatchChunk[] chunks, int[] chunkOf, int[] rowOf, int from, int to, IntFunction<ByteBuffer> scratch) {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Upper bound of the length of a message with so many rows of at most {@code largestRow} bytes. */
    public long largestMessage(int rows, long largestRow) {
        throw new UnsupportedOperationException("not there yet");
    }
}

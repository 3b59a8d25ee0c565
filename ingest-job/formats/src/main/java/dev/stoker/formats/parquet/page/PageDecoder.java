package dev.stoker.formats.parquet.page;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Decodes the values of one page. Exceptions have a clause as their message. */
public interface PageDecoder {
    /**
     * Decodes the next values into the beginning of the batch.
     *
     * @param max values wanted, 1 to {@link ValueBatch#SIZE}
     * @return values decoded, 1 to {@code max}
     */
    int read(ValueBatch batch, int max) throws IOException;

    /**
     * Decodes the next values of a type of fixed width to the bytes that they have in PLAIN encoding.
     *
     * @param dst takes them at its position; little-endian
     * @param count number of values; the page has at least as many
     * @param scratch for the decoder
     */
    default void readPlain(ByteBuffer dst, int count, ScratchBuffers scratch) throws IOException {
        ValueBatch batch = scratch.batch();
        for (int left = count; left > 0; ) {
            int n = read(batch, Math.min(ValueBatch.SIZE, left));
            if (n == 0) {
                throw new IOException("its values end too early");
            }
            scratch.put(batch, n, dst);
            left -= n;
        }
    }

    /**
     * Moves over the next values if they are in the page in PLAIN encoding, and returns their bytes.
     *
     * @return null if they are encoded otherwise; nothing was decoded then
     */
    default @Nullable ByteBuffer slicePlain(int count) throws IOException {
        return null;
    }

    /** Checks that no bytes are left behind the last value of the page. */
    default void end() throws IOException {}

    /** Throws if bytes are left behind the last value of a page. */
    static void requireEnd(long left) throws IOException {
        if (left != 0) {
            throw new IOException(left + " bytes are left behind the last value of a page");
        }
    }
}

package dev.stoker.formats.parquet;

import java.io.IOException;

/** Decodes the values of one page. Exceptions have a clause as their message. */
interface ValueDecoder {
    /**
     * Decodes the next values into the beginning of the batch.
     *
     * @param max values wanted, 1 to {@link Batch#SIZE}
     * @return values decoded, 1 to {@code max}
     */
    int read(Batch batch, int max) throws IOException;
}

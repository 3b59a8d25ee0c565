package dev.stoker.connectors.dataset;

import dev.stoker.schemas.chunk.ChunkBuilder;
import java.io.IOException;
import java.io.Serializable;

/**
 * Makes samples of records. Flink serializes it with the job graph, and each parallel writer has its own copy.
 *
 * @param <T> the type of the records
 */
public interface SampleSerializer<T> extends Serializable {

    /**
     * Sets the fields of a record in a row that was begun. Fields are numbered as in the dataset's description. A
     * nullable field that is not set is null.
     *
     * @throws IOException if the record is not a sample of the dataset; the job fails
     * @throws IllegalArgumentException as {@link IOException}
     */
    void serialize(T record, ChunkBuilder row) throws IOException;

    /** Returns the approximate number of bytes of the record's values. */
    long size(T record);

    /**
     * Returns the key of the record's sample. Called only if keys are {@link SampleKeys#GIVEN}.
     *
     * @throws IOException if the record has no key; the job fails
     */
    default String key(T record) throws IOException {
        throw new IOException(getClass().getName() + " does not implement the method key");
    }

    /** Returns the split of the record's sample; an empty text for the split of the sink. */
    default String split(T record) {
        return "";
    }
}

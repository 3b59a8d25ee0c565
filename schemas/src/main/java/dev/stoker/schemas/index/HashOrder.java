package dev.stoker.schemas.index;

import java.io.IOException;

/**
 * Sorts the hashes of a run's keys. A run can have more keys than fit in memory, so the caller of a {@link RunWriter}
 * provides the implementation. Not thread-safe.
 */
public interface HashOrder {

    /** Receives pairs in ascending order of the hash as an unsigned number; equal hashes in ascending row. */
    @FunctionalInterface
    interface Receiver {
        void accept(int hash, long row) throws IOException;
    }

    /**
     * Adds a pair.
     *
     * @param row 0 to 2^32-1; ascends
     */
    void add(int hash, long row) throws IOException;

    /** Passes all pairs to the receiver. Nothing is added afterwards. */
    void forEach(Receiver receiver) throws IOException;
}

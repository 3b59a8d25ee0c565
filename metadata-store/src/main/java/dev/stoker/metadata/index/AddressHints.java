package dev.stoker.metadata.index;

import java.util.List;
import java.util.Optional;

/**
 * Says where samples may be, faster than the sample index. {@link SampleIndex} checks each answer against the chunk and
 * uses the index if it is wrong, so hints change speed, never an answer. Thread-safe. The caller closes it.
 */
public interface AddressHints extends AutoCloseable {

    /**
     * Where a sample may be.
     *
     * @param ordinal ordinal of the chunk
     * @param row row in the chunk
     */
    record Place(long ordinal, int row) {}

    /**
     * Returns where the samples with these keys may be, in the order of the keys; empty for unknown ones. Does not
     * fail: if the hints are unavailable, nothing is known.
     */
    List<Optional<Place>> find(List<String> keys);

    @Override
    void close();
}

package dev.stoker.metadata.index;

import java.util.Optional;

/**
 * An entry of a listing.
 *
 * @param name the key of a sample, or a common prefix
 * @param sample the sample; empty for a common prefix
 */
public record ListEntry(String name, Optional<SampleStat> sample) {

    /** Returns whether the entry stands for all keys that begin with its name. */
    public boolean isPrefix() {
        return sample.isEmpty();
    }
}

package dev.stoker.metadata.removal;

import java.util.List;

/**
 * Describes what a removal would change in a version.
 *
 * @param version the version
 * @param splits the splits that lose samples
 * @param firstKeys keys of the first samples to remove, in the order of the chunks
 * @param missing number of given keys that no sample has
 */
public record RemovalPlan(long version, List<SplitChange> splits, List<String> firstKeys, long missing) {

    /** Maximum number of {@link #firstKeys}. */
    public static final int FIRST_KEYS = 10;

    public RemovalPlan {
        splits = List.copyOf(splits);
        firstKeys = List.copyOf(firstKeys);
    }

    /** Returns the number of samples to remove. */
    public long removed() {
        return splits.stream().mapToLong(SplitChange::changed).sum();
    }
}

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
public record RemovalPlan(long version, List<Split> splits, List<String> firstKeys, long missing) {

    /** Maximum number of {@link #firstKeys}. */
    public static final int FIRST_KEYS = 10;

    /**
     * The changes of a split.
     *
     * @param split its name
     * @param removed number of samples to remove
     * @param samples number of samples of the version
     * @param chunks number of chunks that lose samples
     */
    public record Split(String split, long removed, long samples, int chunks) {}

    public RemovalPlan {
        splits = List.copyOf(splits);
        firstKeys = List.copyOf(firstKeys);
    }

    /** Returns the number of samples to remove. */
    public long removed() {
        return splits.stream().mapToLong(Split::removed).sum();
    }
}

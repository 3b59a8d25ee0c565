package dev.stoker.metadata.update;

import dev.stoker.metadata.removal.SplitChange;
import java.util.List;

/**
 * Describes what an update would change in a version.
 *
 * @param version the version
 * @param splits the splits with new values
 * @param firstKeys keys of the first samples with new values, in the order of the chunks
 * @param added names of the fields that the version does not have yet
 * @param same number of given keys whose samples have the values already
 * @param missing number of given keys that no sample has
 */
public record UpdatePlan(
        long version, List<SplitChange> splits, List<String> firstKeys, List<String> added, long same, long missing) {

    /** Maximum number of {@link #firstKeys}. */
    public static final int FIRST_KEYS = 10;

    public UpdatePlan {
        splits = List.copyOf(splits);
        firstKeys = List.copyOf(firstKeys);
        added = List.copyOf(added);
    }

    /** Returns the number of samples with new values. */
    public long updated() {
        return splits.stream().mapToLong(SplitChange::changed).sum();
    }
}

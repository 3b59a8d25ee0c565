package dev.stoker.metadata.diff;

import java.util.List;
import java.util.NavigableMap;

/**
 * The differences between two versions. A sample whose key is in both versions but whose content differs counts as
 * removed, as added, and as changed. A sample that another chunk contains now is no difference.
 *
 * @param from the version that is compared
 * @param to the version that it is compared with
 * @param splits the counts of each split that differs, by name
 * @param samples the samples, by split and key; empty unless they were asked for
 */
public record VersionDiff(long from, long to, NavigableMap<String, Counts> splits, List<Sample> samples) {

    /** Lists what can have happened to a sample. */
    public enum Change {
        ADDED,
        REMOVED,
        CHANGED
    }

    /** A sample that differs. */
    public record Sample(String split, String key, Change change) {}

    /**
     * The counts of a split.
     *
     * @param added number of samples that only the second version has
     * @param removed number of samples that only the first version has
     * @param changed number of keys that are in both numbers
     * @param classes added and removed samples by field and class; fields in the order of the dataset
     */
    public record Counts(long added, long removed, long changed, List<ClassCounts> classes) {
        public Counts {
            classes = List.copyOf(classes);
        }
    }

    /** The counts of a class of a categorical field. */
    public record ClassCounts(String field, String name, long added, long removed) {}

    public VersionDiff {
        samples = List.copyOf(samples);
    }

    /** Returns whether the versions have the same samples. */
    public boolean isEmpty() {
        return splits.isEmpty();
    }
}

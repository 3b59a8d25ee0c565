package dev.stoker.metadata.erasure;

import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * Describes what an erasure would delete and change.
 *
 * @param version the newest version
 * @param keys the selected keys
 * @param samples samples of the newest version with these keys
 * @param others rows with these keys that the newest version does not have
 * @param files chunk files to delete
 * @param rewritten those of them whose other samples are written to new chunks
 * @param versions versions that have these files, and are expired
 * @param blockers what prevents the erasure, with the next steps
 */
public record ErasurePlan(
        long version,
        Keys keys,
        long samples,
        long others,
        int files,
        int rewritten,
        NavigableSet<Long> versions,
        List<String> blockers) {

    /**
     * The keys of an erasure.
     *
     * @param selected keys of the samples to erase, ascending
     * @param missing number of given keys that no chunk file has
     * @param kept keys of which only earlier samples satisfy the condition; they are not erased
     */
    public record Keys(NavigableSet<String> selected, long missing, long kept) {
        public Keys {
            selected = new TreeSet<>(selected);
        }
    }

    public ErasurePlan {
        versions = new TreeSet<>(versions);
        blockers = List.copyOf(blockers);
    }

    /** Returns whether there is nothing to erase. */
    public boolean isEmpty() {
        return keys.selected.isEmpty();
    }
}

package dev.stoker.mount.tree;

import dev.stoker.server.tiers.TierOptions;
import java.time.Duration;

/**
 * How a tree reads its datasets.
 *
 * @param tiers where chunks are kept
 * @param workingBytes limit of the memory for chunks that are in use and in no tier; 0 for what a few chunks need
 * @param headBytes limit of the memory for heads of chunks
 * @param interval how often to look for a new version
 * @param listsVersions whether the directory of all versions is listed
 */
public record TreeOptions(
        TierOptions tiers, long workingBytes, long headBytes, Duration interval, boolean listsVersions) {

    /** Returns the usual options. */
    public static TreeOptions defaults() {
        return new TreeOptions(TierOptions.defaults(), 0, 64L << 20, Duration.ofSeconds(5), false);
    }

    /** Returns options with other tiers. */
    public TreeOptions with(TierOptions other) {
        return new TreeOptions(other, workingBytes, headBytes, interval, listsVersions);
    }

    /** Returns options with another interval. */
    public TreeOptions with(Duration other) {
        return new TreeOptions(tiers, workingBytes, headBytes, other, listsVersions);
    }

    /** Returns options that list the directory of all versions. */
    public TreeOptions withVersions() {
        return new TreeOptions(tiers, workingBytes, headBytes, interval, true);
    }
}

package dev.stoker.metadata.compaction;

/**
 * The parallelism of a compaction.
 *
 * @param reads chunks that are read at a time
 * @param packers groups that are packed at a time, at most; each is kept in memory
 * @param memoryBytes the memory for all groups together; one group is always packed
 */
public record CompactionThreads(int reads, int packers, long memoryBytes) {

    public CompactionThreads {
        if (reads < 1 || packers < 1) {
            throw new IllegalArgumentException(reads + " reads and " + packers + " packers at a time");
        }
    }

    /** The number of packers that fit into memory. */
    int packers(int groups, long bytesEach) {
        return (int) Math.max(1, Math.min(Math.min(packers, groups), memoryBytes / bytesEach));
    }
}

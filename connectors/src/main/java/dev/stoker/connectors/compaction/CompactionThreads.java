package dev.stoker.connectors.compaction;

/**
 * How much a compaction does at once.
 *
 * @param reads chunks that are read at a time
 * @param packers groups that are packed at a time, at most; each is held in memory
 * @param memoryBytes that the groups may take together; one is packed in any case
 */
public record CompactionThreads(int reads, int packers, long memoryBytes) {

    public CompactionThreads {
        if (reads < 1 || packers < 1) {
            throw new IllegalArgumentException(reads + " reads and " + packers + " packers at a time");
        }
    }

    /** How many packers fit. */
    int packers(int groups, long bytesEach) {
        return (int) Math.max(1, Math.min(Math.min(packers, groups), memoryBytes / bytesEach));
    }
}

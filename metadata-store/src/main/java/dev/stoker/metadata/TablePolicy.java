package dev.stoker.metadata;

/**
 * When a committer writes a chunk table: as soon as that many commits, or that many chunks, lie after the newest one.
 *
 * @param commits at least 1
 * @param chunks at least 1
 */
public record TablePolicy(int commits, int chunks) {

    /** Every 100 commits or 4096 chunks. */
    public static final TablePolicy STANDARD = new TablePolicy(100, 4096);

    public TablePolicy {
        if (commits < 1 || chunks < 1) {
            throw new IllegalArgumentException("A table every " + commits + " commits or " + chunks + " chunks");
        }
    }
}

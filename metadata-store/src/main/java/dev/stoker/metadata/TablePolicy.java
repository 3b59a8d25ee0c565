package dev.stoker.metadata;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;

/**
 * Determines when a committer writes a chunk table: as soon as this number of commits, or of chunks, follows the newest
 * table.
 *
 * @param commits number of commits, at least 1
 * @param chunks number of chunks, at least 1
 */
public record TablePolicy(int commits, int chunks) {

    /** A table every 100 commits or 4096 chunks. */
    public static final TablePolicy STANDARD = new TablePolicy(100, 4096);

    /** Number of newest tables that are always kept. */
    private static final int NEWEST = 3;

    /**
     * Returns the tables to delete. Keeps the newest ones, and older ones at distances that double. Their number
     * therefore grows with the logarithm of the versions, and an old version still has a table that is not much older.
     */
    public static List<Long> superseded(NavigableSet<Long> tables) {
        List<Long> superseded = new ArrayList<>();
        int kept = 0;
        long distance = 0;
        for (long version : tables.descendingSet()) {
            long own = tables.last() - version;
            if (kept < NEWEST || own >= 2 * distance || version == tables.first()) {
                kept++;
                distance = own;
            } else {
                superseded.add(version);
            }
        }
        return superseded;
    }

    public TablePolicy {
        if (commits < 1 || chunks < 1) {
            throw new IllegalArgumentException("A table every " + commits + " commits or " + chunks + " chunks");
        }
    }
}

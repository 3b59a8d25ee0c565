package dev.stoker.metadata;

import dev.stoker.schemas.log.ExpiredVersions;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The chunks that are live in a version that was not ended.
 *
 * @param table the chunks of all versions
 * @param kept indexes of the chunks in the table
 */
public record KeptChunks(ChunkTable table, BitSet kept) {

    /**
     * Returns the chunks of the versions up to one, except of those that an entry up to it has expired.
     *
     * @param guarded versions that are kept although they were expired
     */
    public static KeptChunks upTo(Dataset dataset, long version, Set<Long> guarded) throws IOException {
        ChunkTable table = dataset.anySnapshot(version).table();
        Set<Long> ended = new TreeSet<>();
        for (ExpiredVersions.Range range : table.expired().ranges()) {
            ended.addAll(versions(range, guarded));
        }
        return without(dataset, table, ended);
    }

    /**
     * Returns the chunks of all versions of a table except some.
     *
     * @param ended the other versions, in ascending order
     */
    static KeptChunks without(Dataset dataset, ChunkTable table, Collection<Long> ended) throws IOException {
        BitSet kept = new BitSet(table.size());
        long first = 1;
        for (long version : ended) {
            if (version > first) {
                keep(dataset, table, first, version - 1, kept);
            }
            first = version + 1;
        }
        if (first <= table.version()) {
            keep(dataset, table, first, table.version(), kept);
        }
        return new KeptChunks(table, kept);
    }

    /** Adds the chunks of versions without gaps. The tables list the same chunks in the same order. */
    private static void keep(Dataset dataset, ChunkTable table, long first, long last, BitSet kept) throws IOException {
        ChunkTable before =
                first == table.version() ? table : dataset.anySnapshot(first).table();
        for (int i = 0; i < before.size(); i++) {
            if (before.isLive(i)) {
                kept.set(i);
            }
        }
        for (int i = before.size(); i < table.size() && table.addedIn(i) <= last; i++) {
            kept.set(i);
        }
    }

    /** Returns the versions of a range that are not guarded. */
    static List<Long> versions(ExpiredVersions.Range range, Set<Long> guarded) {
        List<Long> versions = new ArrayList<>();
        for (long version = range.first(); version <= range.last(); version++) {
            if (!guarded.contains(version)) {
                versions.add(version);
            }
        }
        return versions;
    }
}

package dev.stoker.metadata.gc;

import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.util.BitSet;
import java.util.List;
import java.util.Set;

/**
 * The chunks that are live in a version that was not expired.
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
        return new KeptChunks(table, in(dataset, table, KeptVersions.of(table, guarded, range -> true)));
    }

    /** Returns the indexes of the chunks that are live in one of these versions. Tables list chunks in one order. */
    public static BitSet in(Dataset dataset, ChunkTable newest, List<KeptVersions.Kept> versions) throws IOException {
        BitSet kept = new BitSet(newest.size());
        for (KeptVersions.Kept range : versions) {
            ChunkTable first = dataset.anySnapshot(range.first()).table();
            for (int i = 0; i < first.size(); i++) {
                if (first.isLive(i)) {
                    kept.set(i);
                }
            }
            for (int i = first.size(); i < newest.size() && newest.addedIn(i) <= range.last(); i++) {
                kept.set(i);
            }
        }
        return kept;
    }
}

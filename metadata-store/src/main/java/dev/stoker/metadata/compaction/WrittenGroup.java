package dev.stoker.metadata.compaction;

import dev.stoker.schemas.chunk.ChunkSummary;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.SortedSet;
import java.util.TreeMap;

/**
 * The result of packing a group, without the group itself.
 *
 * @param group its number in the plan
 * @param chunks the new chunks, durable
 * @param classes the class names that they use, by categorical field
 */
record WrittenGroup(int group, ArrayList<ChunkSummary> chunks, TreeMap<String, SortedSet<String>> classes)
        implements Serializable {
    private static final long serialVersionUID = 1;

    PackedGroup of(ChunkGroup source) {
        return new PackedGroup(source, chunks, new TreeMap<>(classes));
    }
}

package dev.stoker.metadata;

import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.table.ClassTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * Contains one version of a dataset, with all data that is needed to read it without asking a server. Version 0 has no
 * samples.
 *
 * @param info description of the dataset, with all fields of the version
 * @param table chunk table of the version
 */
public record Snapshot(DatasetInfo info, ChunkTable table) {
    public Snapshot {
        info = Objects.requireNonNull(info, "info").with(table.added());
        if (!table.dataset().equals(info.id())) {
            throw new IllegalArgumentException("A chunk table of dataset " + table.dataset() + ", not " + info.id());
        }
    }

    public long version() {
        return table.version();
    }

    /** Returns the version's classes. Batches contain their ids. */
    public ClassTable classes() {
        return table.classes();
    }

    /** Returns the splits that have samples, in the order of their first commit. */
    public List<String> splits() {
        Set<String> live = new TreeSet<>();
        for (int i = 0; i < table.size(); i++) {
            if (table.isLive(i)) {
                live.add(table.split(i));
            }
        }
        List<String> splits = new ArrayList<>(table.splits());
        splits.retainAll(live);
        return List.copyOf(splits);
    }

    /**
     * Returns the chunks of a split.
     *
     * @throws UnknownSplitException if the split has no samples in this version
     */
    public StreamChunks stream(String split) throws UnknownSplitException {
        if (!splits().contains(split)) {
            throw new UnknownSplitException(info.name(), version(), split, splits());
        }
        return table.stream(split);
    }
}

package dev.stoker.metadata.index.run;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.UnknownVersionException;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.index.RunIdentity;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Lists the runs of a dataset's index, and opens them. */
public final class IndexRuns {

    private IndexRuns() {}

    /** Returns the ranges of all runs, by their first and then their last version. */
    public static List<IndexRange> list(ObjectStore store) throws IOException {
        List<IndexRange> ranges = new ArrayList<>();
        try (ObjectIterator objects = store.list(DatasetLayout.INDEX)) {
            while (objects.hasNext()) {
                IndexRange.ofName(objects.next().name()).ifPresent(ranges::add);
            }
        }
        ranges.sort(Comparator.comparingLong(IndexRange::first).thenComparingLong(IndexRange::last));
        return ranges;
    }

    /**
     * Opens a run, and checks that it belongs to the versions in its name.
     *
     * @param table a chunk table of the dataset
     * @throws CorruptDataException if it is damaged
     * @throws ForeignFileException if it is not this run
     * @throws dev.stoker.schemas.errors.FormatTooNewException if a newer Stoker wrote it
     * @throws dev.stoker.storage.errors.NoSuchObjectException if it was deleted, because another run supersedes it
     */
    public static SampleRun open(Dataset dataset, ChunkTable table, IndexRange range) throws IOException {
        SampleRun run = StoredRun.open(dataset.store(), range);
        ChunkTable covering = table;
        if (range.last() > table.version()) {
            try {
                covering = dataset.snapshot(range.last()).table();
            } catch (UnknownVersionException e) {
                throw new ForeignFileException(
                        run.name(), "an index run of this dataset", String.valueOf(e.getMessage()));
            }
        }
        run.require(RunIdentity.of(covering, range.first(), range.last()));
        return run;
    }
}

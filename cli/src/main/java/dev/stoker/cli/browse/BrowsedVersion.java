package dev.stoker.cli.browse;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.index.AddressedSamples;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An open version, with cached results about it. Thread-safe; its lock is this object. */
final class BrowsedVersion {

    /** Samples outside the index whose keys are read when somebody searches. More would take too long. */
    private static final long MOST_UNINDEXED = 200_000;

    private final Dataset dataset;
    private final Snapshot snapshot;
    private final AddressedSamples samples;
    private final Map<String, Positions> positions = new HashMap<>();
    private @Nullable SampleIndex index;
    private @Nullable SortedList sorted;

    /** The sorted samples of the last request, because the next one is for another page of them. */
    private record SortedList(Filter filter, SortOrder order, SortOrder.Sorted samples) {}

    BrowsedVersion(Dataset dataset, Snapshot snapshot) {
        this.dataset = dataset;
        this.snapshot = snapshot;
        this.samples = new AddressedSamples(dataset, snapshot);
    }

    Snapshot snapshot() {
        return snapshot;
    }

    ChunkTable table() {
        return snapshot.table();
    }

    List<Field> fields() {
        return snapshot.info().fields();
    }

    AddressedSamples samples() {
        return samples;
    }

    /** Returns the samples of a split, or of all splits, in stored order. */
    synchronized Positions positions(Optional<String> split) {
        if (split.isPresent() && !snapshot.splits().contains(split.get())) {
            throw new IllegalArgumentException("version " + snapshot.version() + " has no such split");
        }
        // No split has an empty name.
        return positions.computeIfAbsent(split.orElse(""), name -> new Positions(snapshot.table(), split.orElse(null)));
    }

    /** Returns the index of the keys; empty if it would first have to read the heads of many chunks. */
    synchronized Optional<SampleIndex> index() throws IOException {
        if (index == null) {
            index = SampleIndex.open(dataset, snapshot);
        }
        return index.chunksWithoutRun() == 0 || snapshot.table().liveRows() <= MOST_UNINDEXED
                ? Optional.of(index)
                : Optional.empty();
    }

    /** Returns the selected samples in an order, after the heads of all chunks of the split were read. */
    synchronized SortOrder.Sorted sorted(Filter filter, SortOrder order) throws IOException {
        SortedList last = sorted;
        if (last == null || !last.filter.equals(filter) || !last.order.equals(order)) {
            last = new SortedList(filter, order, SampleSearch.sort(this, filter, order));
            sorted = last;
        }
        return last.samples;
    }
}

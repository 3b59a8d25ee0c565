package dev.stoker.connectors.dataset.source.enumerator;

import dev.stoker.connectors.dataset.DatasetScan;
import dev.stoker.connectors.dataset.source.split.ChunkSplit;
import dev.stoker.connectors.dataset.source.split.SourceChunk;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The chunks of a version that a scan reads, in ascending ordinal. Immutable. */
final class VersionChunks {

    private final String dataset;
    private final ChunkTable table;
    private final int[] indexes;

    private VersionChunks(String dataset, ChunkTable table, int[] indexes) {
        this.dataset = dataset;
        this.table = table;
        this.indexes = indexes;
    }

    /**
     * Opens the dataset and finds the chunks. Fails if a column or a split of the scan does not exist.
     *
     * @param state the version to continue with, if it was chosen
     */
    static VersionChunks find(DatasetScan scan, EnumeratorState state) throws IOException {
        try (ObjectStore store = scan.store().open(scan.path())) {
            Dataset opened = Dataset.open(store);
            String id = opened.info().id().toString();
            if (!state.dataset().isEmpty() && !state.dataset().equals(id)) {
                throw new IllegalStateException("The dataset at " + scan.path() + " is " + id + ", but the job began"
                        + " to read dataset " + state.dataset() + "; start the job without its state");
            }
            long version = state.version() > 0 ? state.version() : scan.version();
            Snapshot snapshot = version > 0 ? opened.snapshot(version) : opened.snapshot();
            checkColumns(snapshot.info(), scan);
            for (String split : scan.splits()) {
                snapshot.stream(split);
            }
            ChunkTable table = snapshot.table();
            int[] found = IntStream.range(0, table.size())
                    .filter(table::isLive)
                    .filter(index -> scan.includes(table.split(index)))
                    .toArray();
            return new VersionChunks(id, table, found);
        }
    }

    private static void checkColumns(DatasetInfo info, DatasetScan scan) {
        List<String> known = new ArrayList<>(List.of(Field.KEY));
        info.fields().forEach(field -> known.add(field.name()));
        info.payloadFields().forEach(field -> known.add(DatasetScan.CRC + field.name()));
        for (String column : scan.columns()) {
            if (!known.contains(column)) {
                throw new IllegalArgumentException("The dataset at " + scan.path() + " has no column '" + column
                        + "'; it has " + String.join(", ", known));
            }
        }
        List<String> small = new ArrayList<>(List.of(Field.KEY));
        info.smallFields().forEach(field -> small.add(field.name()));
        scan.filters().forEach(filter -> {
            if (!small.contains(filter.column())) {
                throw new IllegalArgumentException("The dataset at " + scan.path() + " has no small field '"
                        + filter.column() + "' to filter by; it has " + String.join(", ", small));
            }
        });
    }

    String dataset() {
        return dataset;
    }

    long version() {
        return table.version();
    }

    int size() {
        return indexes.length;
    }

    /** Returns a split of the chunks {@code from} to {@code to - 1} of this list. */
    ChunkSplit split(int from, int to) {
        List<SourceChunk> chunks = new ArrayList<>();
        for (int i = from; i < to; i++) {
            int index = indexes[i];
            chunks.add(new SourceChunk(table.ordinal(index), table.summary(index), table.removedRows(index)));
        }
        return new ChunkSplit(table.version(), chunks, 0);
    }
}

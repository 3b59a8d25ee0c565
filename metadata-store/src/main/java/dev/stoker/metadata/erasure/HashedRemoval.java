package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Removes all samples with erased keys, whatever version they were added in. */
final class HashedRemoval implements Removal {

    private final ErasedRows rows;

    HashedRemoval(ErasedRows rows) {
        this.rows = rows;
    }

    /** Returns an empty list if the version has none of the samples. */
    @Override
    public List<RemovedRows> from(Snapshot base) throws IOException {
        ChunkTable table = base.table();
        int[] live = IntStream.range(0, table.size()).filter(table::isLive).toArray();
        rows.read(table, live);
        List<RemovedRows> removed = new ArrayList<>();
        for (int index : live) {
            int[] gone = IntStream.of(rows.of(table.id(index)))
                    .filter(row -> table.isLive(index, row))
                    .toArray();
            if (gone.length > 0) {
                long ordinal = table.ordinal(index);
                removed.add(
                        gone.length == table.liveRows(index)
                                ? RemovedRows.wholeChunk(ordinal)
                                : RemovedRows.of(ordinal, gone));
            }
        }
        return removed;
    }
}

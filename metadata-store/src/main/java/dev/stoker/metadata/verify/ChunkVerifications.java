package dev.stoker.metadata.verify;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.work.PieceWork;
import dev.stoker.metadata.work.PieceWorker;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Verifies the chunks of a version: a piece is one of its live chunks. */
final class ChunkVerifications implements PieceWork<ChunkVerifications.Found> {

    private static final long serialVersionUID = 1;

    private final long version;
    private final int pieces;
    /** Absent where the work was sent to. */
    private final transient @Nullable Snapshot snapshot;

    /**
     * The result for a chunk.
     *
     * @param bytes number of bytes read
     * @param problems found in them
     */
    record Found(long bytes, ArrayList<Problem> problems) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    ChunkVerifications(Snapshot snapshot) {
        this.version = snapshot.version();
        this.pieces = live(snapshot.table()).length;
        this.snapshot = snapshot;
    }

    int pieces() {
        return pieces;
    }

    /** Returns the indices of the live chunks. */
    static int[] live(ChunkTable table) {
        return IntStream.range(0, table.size()).filter(table::isLive).toArray();
    }

    @Override
    public Supplier<PieceWorker<Found>> open(ObjectStore store) throws IOException {
        Dataset dataset = Dataset.open(store);
        ChunkTable table = (snapshot == null ? dataset.anySnapshot(version) : snapshot).table();
        int[] live = live(table);
        return () -> {
            List<Problem> problems = new ArrayList<>();
            ChunkVerifier chunks = new ChunkVerifier(dataset, table, problems::add);
            return piece -> {
                problems.clear();
                long bytes = chunks.verify(live[piece]);
                return new Found(bytes, new ArrayList<>(problems));
            };
        };
    }
}

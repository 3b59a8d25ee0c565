package dev.stoker.metadata.index.build;

import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.index.run.RowCursor;
import dev.stoker.metadata.work.Workers;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.LongConsumer;

/**
 * Lets workers on other machines read the heads. Each piece of the chunks becomes one file of sorted rows in the
 * dataset's directory for temporary files.
 *
 * @param store holds the dataset
 * @param workers read the heads
 * @param progress receives the number of rows read since its last call, on any thread
 */
record StoredRows(ObjectStore store, Workers workers, LongConsumer progress) implements RowReads {

    /** For the buffers of all files together. */
    private static final long BUFFER_BYTES = 256L << 20;

    private static final int LEAST_BUFFER = 1 << 16;
    private static final int GREATEST_BUFFER = 4 << 20;

    @Override
    public List<RowCursor> collect(ChunkTable table, int[] chunks, Scratch scratch)
            throws IOException, InterruptedException {
        String directory = DatasetLayout.SCRATCH + UUID.randomUUID() + "/";
        String tableName = directory + "table.arrow";
        scratch.onClose(() -> delete(directory));
        write(tableName, ByteBuffer.wrap(table.encode()));
        RowPieces work = RowPieces.of(table, chunks, directory, tableName);
        List<RowPieces.Written> files = new ArrayList<>();
        workers.run(work.pieces(), work, written -> {
            files.add(written);
            progress.accept(written.rows());
        });
        int buffer = (int) Math.min(GREATEST_BUFFER, Math.max(LEAST_BUFFER, BUFFER_BYTES / Math.max(1, files.size())));
        List<RowCursor> cursors = new ArrayList<>();
        for (RowPieces.Written file : files) {
            cursors.add(SortedRows.read(new ObjectStream(store, file.name(), file.bytes(), buffer)));
        }
        return cursors;
    }

    private void write(String name, ByteBuffer content) throws IOException {
        try (ObjectWriter out = store.write(name)) {
            out.write(content);
            out.commit();
        }
    }

    private void delete(String directory) throws IOException {
        for (ObjectInfo object : store.list(directory).toList()) {
            store.delete(object.name());
        }
    }
}

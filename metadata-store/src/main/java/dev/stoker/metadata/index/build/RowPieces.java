package dev.stoker.metadata.index.build;

import dev.stoker.metadata.index.run.RowCursor;
import dev.stoker.metadata.work.PieceWork;
import dev.stoker.metadata.work.PieceWorker;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/** Reads the heads of chunks and stores their rows, sorted: a piece is some successive chunks. */
final class RowPieces implements PieceWork<RowPieces.Written> {

    private static final long serialVersionUID = 1;

    /** Rows of a piece, which a worker sorts in memory. */
    private static final long ROWS = 1_000_000;

    private static final int BUFFER_BYTES = 1 << 20;

    private final String directory;
    private final String tableName;
    private final int[] chunks;
    /** The first chunk of each piece, and the number of chunks. */
    private final int[] begins;

    /**
     * A stored file of rows.
     *
     * @param name of the object
     * @param bytes its length
     * @param rows number of its rows
     */
    record Written(String name, long bytes, long rows) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    private RowPieces(String directory, String tableName, int[] chunks, int[] begins) {
        this.directory = directory;
        this.tableName = tableName;
        this.chunks = chunks;
        this.begins = begins;
    }

    /**
     * Divides chunks into pieces.
     *
     * @param chunks indices of the chunk table
     * @param directory where the rows are stored
     * @param tableName where the chunk table is stored
     */
    static RowPieces of(ChunkTable table, int[] chunks, String directory, String tableName) {
        List<Integer> begins = new ArrayList<>();
        long rows = ROWS;
        for (int i = 0; i < chunks.length; i++) {
            if (rows + table.rows(chunks[i]) > ROWS) {
                begins.add(i);
                rows = 0;
            }
            rows += table.rows(chunks[i]);
        }
        begins.add(chunks.length);
        return new RowPieces(
                directory,
                tableName,
                chunks,
                begins.stream().mapToInt(Integer::intValue).toArray());
    }

    int pieces() {
        return begins.length - 1;
    }

    @Override
    public Supplier<PieceWorker<Written>> open(ObjectStore store) throws IOException {
        ChunkTable table = ChunkTable.decode(store.readAll(tableName, Integer.MAX_VALUE), store.describe(tableName));
        return () -> {
            HeadRows heads = new HeadRows();
            return piece -> {
                RowBuffer buffer = new RowBuffer();
                long rows = 0;
                for (int chunk : Arrays.copyOfRange(chunks, begins[piece], begins[piece + 1])) {
                    rows += heads.addTo(buffer, store, table, chunk);
                }
                return write(store, directory + piece + "-" + UUID.randomUUID(), buffer.sorted(), rows);
            };
        };
    }

    private static Written write(ObjectStore store, String name, RowCursor rows, long count) throws IOException {
        try (ObjectWriter object = store.write(name)) {
            SortedRows.write(rows, new BufferedOutputStream(new ObjectOutput(object), BUFFER_BYTES));
            long bytes = object.position();
            object.commit();
            return new Written(name, bytes, count);
        }
    }

    /** Appends to an object. Closing it does not end the object. */
    private static final class ObjectOutput extends OutputStream {
        private final ObjectWriter object;

        ObjectOutput(ObjectWriter object) {
            this.object = object;
        }

        @Override
        public void write(int value) throws IOException {
            object.write(ByteBuffer.wrap(new byte[] {(byte) value}));
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            object.write(ByteBuffer.wrap(bytes, from, length));
        }
    }
}

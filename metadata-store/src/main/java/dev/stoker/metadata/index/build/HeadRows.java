package dev.stoker.metadata.index.build;

import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.crc.ConcatCrc;
import dev.stoker.schemas.index.IndexedRow;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.List;

/** Makes the rows of a run from the head of a chunk. Not thread-safe. */
public final class HeadRows {

    private final ConcatCrc crc = new ConcatCrc();

    /**
     * Adds the rows of a chunk to a buffer. Adds nothing if the chunk was removed and its file does not exist any more.
     *
     * @param chunk index in the chunk table
     * @return number of rows
     */
    int addTo(RowBuffer buffer, ObjectStore store, ChunkTable table, int chunk) throws IOException {
        ChunkHead head;
        try {
            head = ChunkHeads.readStored(store, table, chunk);
        } catch (NoSuchObjectException e) {
            if (table.isLive(chunk)) {
                throw e;
            }
            return 0;
        }
        for (int row = 0; row < head.rows(); row++) {
            buffer.add(head.keys(), row, row(head, table.ordinal(chunk), row));
        }
        return head.rows();
    }

    /**
     * Returns what the index stores about a sample.
     *
     * @throws IOException if the ordinal is beyond those that the index can store
     */
    public IndexedRow row(ChunkHead head, long ordinal, int row) throws IOException {
        if (ordinal > Integer.MAX_VALUE) {
            throw new IOException("The sample index has chunks up to ordinal 2^31-1, not " + ordinal);
        }
        List<Field> fields = head.fields();
        int length = 0;
        crc.reset();
        for (int f = 0; f < fields.size(); f++) {
            ArrowColumn column = head.column(f);
            boolean isBit = column.field().type().layout() == FieldType.Layout.BITS;
            int bytes = isBit ? 1 : column.valueLength(row);
            length += bytes;
            if (fields.get(f).payload()) {
                crc.add(head.payloadCrc32c(f, row), bytes);
            }
        }
        return new IndexedRow((int) ordinal, row, length, crc.value());
    }
}

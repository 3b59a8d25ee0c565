package dev.stoker.metadata.index;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.crc.ConcatCrc;
import dev.stoker.schemas.index.IndexedRow;
import java.io.IOException;
import java.util.List;

/** Makes the rows of a run from the head of a chunk. Not thread-safe. */
final class HeadRows {

    private final ConcatCrc crc = new ConcatCrc();

    /**
     * Returns what the index stores about a sample.
     *
     * @throws IOException if the ordinal is beyond those that the index can store
     */
    IndexedRow row(ChunkHead head, long ordinal, int row) throws IOException {
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

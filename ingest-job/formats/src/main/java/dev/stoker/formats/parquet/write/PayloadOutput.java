package dev.stoker.formats.parquet.write;

import dev.stoker.formats.block.BlockCompressor;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Encodes payload that is not compressed. Copies each value once, straight into its page, because parquet-java's
 * encoders copy it several times. Uses the memory of pages again. For one thread.
 *
 * <pre>
 * levels, if the column is nullable: i32 length | runs of equal levels: varint 2 * rows, i8 level
 * values that are not null:          i32 length | bytes
 * </pre>
 */
final class PayloadOutput {
    /** Bytes of a page if there are few columns; a longer value has its own page. */
    private static final int PAGE_BYTES = 1 << 20;

    private static final int LEAST_PAGE_BYTES = 8 << 10;
    private static final byte[] NONE = {};

    private final int column;
    /** Definition level of a value that is not null; 0 if the column is not nullable. */
    private final int present;

    private final Deque<byte[]> free = new ArrayDeque<>();
    private final ByteArrayOutputStream levels = new ByteArrayOutputStream();
    private final int pageBytes;
    private byte[] page = NONE;
    private ByteBuffer values = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN);
    private int rows;
    private int nulls;
    private int runLevel;
    private int runRows;

    /**
     * @param columns number of columns that are written in this way, which share the memory of 16 full pages
     * @param isInStruct whether the values are optional in an optional struct
     */
    PayloadOutput(OutputTable table, int column, int columns, boolean isInStruct) {
        this.column = column;
        this.pageBytes = Math.max(LEAST_PAGE_BYTES, Math.min(PAGE_BYTES, 16 * PAGE_BYTES / columns));
        this.present = isInStruct ? 2 : table.columns().get(column).nullable() ? 1 : 0;
    }

    /** Returns whether a column can be written in this way. */
    static boolean isFor(OutputColumn column, BlockCompressor codec) {
        boolean isBytes = column.type() == ScalarType.BINARY || column.type() == ScalarType.UTF8;
        return column.payload() && isBytes && codec == BlockCompressor.NONE;
    }

    /** Returns the bytes that are not in a page yet. */
    int buffered() {
        return values.position();
    }

    /** Writes the values of some rows. */
    void write(RowBatch batch, int from, int to, ColumnPages pages) throws IOException {
        ArrowColumn source = batch.columns().get(column);
        for (int row = from; row < to; row++) {
            if (source.isNull(row)) {
                level(0);
                nulls++;
                continue;
            }
            int length = source.valueLength(row);
            if (values.remaining() < Integer.BYTES + (long) length) {
                endPage(pages, Math.addExact(length, Integer.BYTES));
            }
            values.putInt(length);
            // Positions of a batch are indexes into its message.
            values.put(values.position(), batch.message(), source.valuePosition(row), length);
            values.position(values.position() + length);
            level(present);
        }
    }

    private void level(int level) {
        if (runRows > 0 && runLevel != level) {
            endRun();
        }
        runLevel = level;
        runRows++;
        rows++;
    }

    private void endRun() {
        int rest = runRows << 1;
        while (rest >= 0x80) {
            levels.write((rest & 0x7F) | 0x80);
            rest >>>= 7;
        }
        levels.write(rest);
        levels.write(runLevel);
        runRows = 0;
    }

    /** Ends a page that has rows. Begins one that has room for a value with its length. */
    private void endPage(ColumnPages pages, int needed) throws IOException {
        flush(pages);
        if (needed > pageBytes) {
            begin(new byte[needed]);
        } else {
            begin(free.isEmpty() ? new byte[pageBytes] : free.pop());
        }
    }

    /** Ends the last page of a column chunk. */
    void flush(ColumnPages pages) throws IOException {
        if (rows == 0) {
            return;
        }
        pages.addPlain(levels(), page, values.position(), rows, nulls);
        rows = 0;
        nulls = 0;
        begin(NONE);
    }

    private void begin(byte[] next) {
        page = next;
        values = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN);
    }

    private byte[] levels() {
        if (present == 0) {
            runRows = 0;
            return new byte[0];
        }
        endRun();
        ByteBuffer prefixed = ByteBuffer.allocate(Integer.BYTES + levels.size()).order(ByteOrder.LITTLE_ENDIAN);
        prefixed.putInt(levels.size()).put(levels.toByteArray());
        levels.reset();
        return prefixed.array();
    }

    /** Takes the memory of pages that were written. */
    void release(ColumnPages pages) {
        pages.plainPages().stream().filter(bytes -> bytes.length == pageBytes).forEach(free::push);
    }
}

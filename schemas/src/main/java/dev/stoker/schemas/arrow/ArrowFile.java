package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes an Arrow IPC file with one record batch, completely in memory. Immutable and thread-safe.
 *
 * <pre>
 * ARROW1 00 00 | schema message, zeros to a multiple of 64 | record batch message | FFFFFFFF 00000000
 *              | footer flatbuffer | i32 its length | ARROW1
 * </pre>
 */
public final class ArrowFile {
    /**
     * A schema metadata key that is only in the leading schema message, not in the footer's copy. It contains a text
     * that may occur only once in a file.
     */
    public static final String SELF_KEY = "stoker.self";

    private static final int MAX_BYTES = Integer.MAX_VALUE - 8;

    private final ArrowHead head;
    private final ArrowFooter footer;

    private ArrowFile(ArrowHead head, ArrowFooter footer) {
        this.head = head;
        this.footer = footer;
    }

    /**
     * Writes a file with these columns. The same arguments always give the same bytes.
     *
     * @param schema schema whose fields describe the columns in order
     * @param columns one for each field, all with the same number of rows
     * @param footerMetadata custom metadata of the footer
     */
    public static byte[] write(ArrowSchema schema, List<ColumnBuilder> columns, Map<String, String> footerMetadata) {
        int rows = columns.isEmpty() ? 0 : columns.get(0).rows();
        if (columns.size() != schema.fields().size()) {
            throw new IllegalArgumentException(columns.size() + " columns for a schema of "
                    + schema.fields().size());
        }
        for (int c = 0; c < columns.size(); c++) {
            ColumnBuilder column = columns.get(c);
            if (column.rows() != rows || !column.field().equals(schema.fields().get(c))) {
                throw new IllegalArgumentException("column " + column.field().name() + " is not the schema's column "
                        + c + ", or has not " + rows + " rows but " + column.rows());
            }
        }
        List<FieldType> types = schema.fields().stream().map(ArrowField::type).toList();
        if (types.contains(ScalarType.CATEGORICAL)) {
            throw new IllegalArgumentException("a categorical column needs a dictionary; make a chunk");
        }
        RecordBatchLayout layout = RecordBatchLayout.of(types, new boolean[types.size()]);
        RecordBatchParts parts = new RecordBatchParts(layout, rows);
        for (int c = 0; c < columns.size(); c++) {
            parts.set(c, columns.get(c));
        }
        byte[] opening = ArrowHead.opening(schema);
        byte[] tail = new ArrowFooter(
                        schema.without(SELF_KEY),
                        List.of(),
                        new ArrowFooter.Block(opening.length, layout.headLength(), parts.bodyLength()),
                        footerMetadata)
                .tail();
        long length = opening.length + layout.headLength() + parts.bodyLength() + tail.length;
        if (length > MAX_BYTES) {
            throw new IllegalStateException("an Arrow file of " + length + " bytes; 2^31 is the limit");
        }
        ByteBuffer out = ByteBuffer.allocate((int) length).order(ByteOrder.LITTLE_ENDIAN);
        out.put(opening);
        parts.writeSmall(out);
        out.put(tail);
        return out.array();
    }

    /**
     * Reads a file that is in memory.
     *
     * @param file from index 0 to the limit; must not change
     * @param name the file's name for messages
     */
    public static ArrowFile read(ByteBuffer file, String name) throws StokerException {
        int length = file.limit();
        ByteBuffer bytes = file.duplicate().position(0).order(ByteOrder.LITTLE_ENDIAN);
        int tailLength = ArrowFooter.tailLength(bytes, length, name);
        ArrowFooter footer = ArrowFooter.read(bytes.slice(length - tailLength, tailLength), name);
        if (!footer.dictionaries().isEmpty()) {
            throw new ForeignFileException(
                    name,
                    "an Arrow file with one record batch",
                    "its footer has " + footer.dictionaries().size() + " dictionaries");
        }
        ArrowHead head =
                ArrowHead.read(bytes, schema -> new boolean[schema.fields().size()], length - tailLength, name);
        ArrowFooter expected = head.footer(footer.metadata());
        if (!footer.equals(expected)) {
            throw CorruptDataException.mismatch(name, "footer", expected, footer);
        }
        return new ArrowFile(head, footer);
    }

    /**
     * Returns the schema of the leading schema message. The footer's schema lacks {@link #SELF_KEY} and is otherwise
     * equal.
     */
    public ArrowSchema schema() {
        return head.schema();
    }

    /** Returns the number of rows of the record batch. */
    public int rows() {
        return head.rows();
    }

    /** Returns a column by its index. */
    public ArrowColumn column(int index) {
        return head.columns().get(index);
    }

    /** Returns a column by its name. Throws IllegalArgumentException if there is none. */
    public ArrowColumn column(String name) {
        int index = schema().indexOf(name);
        if (index < 0) {
            throw new IllegalArgumentException("no column " + name);
        }
        return column(index);
    }

    /** Returns the custom metadata of the footer. */
    public Map<String, String> footerMetadata() {
        return footer.metadata();
    }
}

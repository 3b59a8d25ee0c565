package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.ArrowHead;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.arrow.ScalarType;
import dev.stoker.schemas.crc.ConcatCrc;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Provides access to a chunk's head: keys, small fields, positions, lengths and checksums of all samples. Immutable and
 * thread-safe. Columns stay in Arrow form; there is no object per row. Fields are identified by their index in the
 * dataset's order. Row numbers are not checked: outside 0 to rows-1 the result is undefined or an
 * IndexOutOfBoundsException.
 */
public final class ChunkHead {
    private final String file;
    private final ArrowHead arrow;
    private final ChunkSchema schema;
    private final int length;
    private final ArrowColumn[] columns;
    private final ArrowColumn[] crcs;
    private final List<List<String>> classes;

    /** Replaces columns by those of an overlay, given by field; null for a field that keeps its own. */
    private ChunkHead(ChunkHead base, @Nullable ArrowColumn[] replaced, List<List<String>> classes) {
        this.file = base.file;
        this.arrow = base.arrow;
        this.schema = base.schema;
        this.length = base.length;
        this.columns = base.columns.clone();
        this.crcs = base.crcs;
        for (int f = 0; f < columns.length; f++) {
            ArrowColumn column = replaced[f];
            columns[f] = column == null ? columns[f] : column;
        }
        this.classes = List.copyOf(classes);
    }

    private ChunkHead(String file, ArrowHead arrow, ChunkSchema schema, int length) throws CorruptDataException {
        this.file = file;
        this.arrow = arrow;
        this.schema = schema;
        this.length = length;
        ChunkLayout layout = schema.layout();
        this.columns = new ArrowColumn[layout.fields().size()];
        this.crcs = new ArrowColumn[columns.length];
        for (int f = 0; f < columns.length; f++) {
            columns[f] = arrow.columns().get(layout.column(f));
            crcs[f] = f < layout.smallFields() ? null : arrow.columns().get(layout.crcColumn(f));
        }
        List<List<String>> names = new ArrayList<>();
        for (int f = 0; f < columns.length; f++) {
            boolean categorical = layout.fields().get(f).type() == ScalarType.CATEGORICAL;
            names.add(
                    categorical ? ClassNames.read(arrow.dictionary(layout.column(f)), arrow.rows(), file) : List.of());
        }
        this.classes = List.copyOf(names);
    }

    /**
     * Parses a head whose CRC was verified. Checks structure, offsets and class ids.
     *
     * @param head the head from index 0 to the limit; must not change
     * @param fileLength length of the whole file
     * @param file the file's name for messages
     */
    public static ChunkHead parse(ByteBuffer head, long fileLength, String file) throws StokerException {
        ArrowHead arrow = ArrowHead.read(head, schema -> ChunkSchema.payloadColumns(schema, file), fileLength, file);
        ChunkSchema schema = ChunkSchema.read(arrow.schema(), file);
        int length = arrow.checkCanonical(file);
        if (length != head.limit()) {
            throw CorruptDataException.mismatch(file, "head length", length, head.limit());
        }
        ChunkHead chunk = new ChunkHead(file, arrow, schema, length);
        if (chunk.rows() == 0) {
            throw CorruptDataException.mismatch(file, "rows", "at least 1", 0);
        }
        for (int f = 0; f < chunk.columns.length; f++) {
            chunk.checkColumn(f);
        }
        return chunk;
    }

    /**
     * Returns this head with the values of an overlay instead of its own ones. All else is unchanged; the positions of
     * the overlay's values do not refer to this file.
     *
     * @param overlay the checked content of the overlay's file
     * @throws CorruptDataException if the overlay has other rows, or fields that the chunk does not have
     */
    ChunkHead with(ChunkHead overlay) throws CorruptDataException {
        OverlayReader.checkRows(overlay, rows(), fields());
        @Nullable ArrowColumn[] replaced = new ArrowColumn[columns.length];
        List<List<String>> names = new ArrayList<>(classes);
        for (int o = 0; o < overlay.fields().size(); o++) {
            int f = fields().indexOf(overlay.fields().get(o));
            replaced[f] = overlay.columns[o];
            names.set(f, overlay.classes.get(o));
        }
        return new ChunkHead(this, replaced, names);
    }

    /** Returns the file's name for messages. */
    public String file() {
        return file;
    }

    /** Returns the identity of the chunk. */
    public ChunkIdentity identity() {
        return schema.identity();
    }

    /** Returns the dataset's fields in dataset order. */
    public List<Field> fields() {
        return schema.layout().fields();
    }

    /** Returns the number of samples. */
    public int rows() {
        return arrow.rows();
    }

    /** Returns the length of the head. */
    public int length() {
        return length;
    }

    /** Returns a sample's key. */
    public String key(int row) {
        return keys().stringAt(row);
    }

    /** Returns the key column. */
    public ArrowColumn keys() {
        return arrow.columns().get(0);
    }

    /** Returns a field's column. For a payload field only positions and lengths are available. */
    public ArrowColumn column(int field) {
        return columns[field];
    }

    /** Returns the class names of a categorical field by chunk-local id; empty for other fields. */
    public List<String> classes(int field) {
        return classes.get(field);
    }

    /** Returns the position of the sample's bytes of a payload field in the file. */
    public int payloadPosition(int field, int row) {
        return columns[field].valuePosition(row);
    }

    /** Returns the length of the sample's payload field. */
    public int payloadLength(int field, int row) {
        return columns[field].valueLength(row);
    }

    /** Returns the CRC-32C of the sample's bytes of a payload field. */
    public int payloadCrc32c(int field, int row) {
        return crcs[field].intAt(row);
    }

    /**
     * Returns the checksums of the samples' bytes of a payload field, as a column of uint32.
     *
     * @throws IllegalArgumentException for a small field
     */
    public ArrowColumn payloadCrcs(int field) {
        if (crcs[field] == null) {
            throw new IllegalArgumentException("field '" + fields().get(field).name() + "' is not payload");
        }
        return crcs[field];
    }

    /** Returns the bytes of one row in a batch; see {@link ChunkSummary#largestRow}. */
    public long rowBytes(int row) {
        long bytes = RowSize.of(ScalarType.UTF8, false, keys().valueLength(row));
        for (ArrowColumn column : columns) {
            bytes += RowSize.of(column.field().type(), column.field().nullable(), column.storedLength(row));
        }
        return bytes;
    }

    ArrowHead arrow() {
        return arrow;
    }

    ChunkLayout layout() {
        return schema.layout();
    }

    /** Checks that the class ids of a categorical column are below the number of its classes. */
    static void checkClassIds(ArrowColumn column, int classes, String file) throws CorruptDataException {
        for (int row = 0; row < column.rows(); row++) {
            int id = column.intAt(row);
            if ((id < 0 || id >= classes) && !column.isNull(row)) {
                throw CorruptDataException.mismatch(
                        file, "class of " + column.field().name() + " in row " + row, "0 to " + (classes - 1), id);
            }
        }
    }

    /** Checks that null payload has no bytes, or zeros in a tensor: batches take the bytes as they are. */
    private void checkNulls(int field) throws CorruptDataException {
        ArrowColumn column = columns[field];
        if (column.nullCount() == 0) {
            return;
        }
        ConcatCrc zeros = new ConcatCrc();
        if (!column.field().type().hasOffsets()) {
            zeros.addZeros(column.field().type().width());
        }
        for (int row = 0; row < rows(); row++) {
            if (column.isNull(row)
                    && (column.valueLength(row) != zeros.length() || payloadCrc32c(field, row) != zeros.value())) {
                throw CorruptDataException.mismatch(
                        file,
                        "null of " + column.field().name() + " in row " + row,
                        zeros.length() + " zero bytes",
                        column.valueLength(row) + " bytes with the checksum " + Crc32cs.hex(payloadCrc32c(field, row)));
            }
        }
    }

    private void checkColumn(int field) throws StokerException {
        ArrowColumn column = columns[field];
        String name = column.field().name();
        if (column.field().type() == ScalarType.CATEGORICAL) {
            checkClassIds(column, classes(field).size(), file);
        }
        if (crcs[field] != null) {
            checkNulls(field);
            // The checksums cover the payload without gaps only if the values fill their buffer.
            int last = rows() - 1;
            long begin = column.valuePosition(0);
            long end = column.valuePosition(last) + (long) column.valueLength(last);
            if (begin != column.valuesPosition() || end != begin + column.valuesLength()) {
                throw CorruptDataException.mismatch(
                        file,
                        "values of " + name,
                        "bytes " + column.valuesPosition() + " to "
                                + (column.valuesPosition() + (long) column.valuesLength()),
                        begin + " to " + end);
            }
        }
    }
}

package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.ArrowHead;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.crc.ConcatCrc;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
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
    private final List<Field> fields;
    private final int length;
    private final ArrowColumn[] columns;
    private final ArrowColumn[] crcs;
    private final List<List<String>> classes;

    /**
     * Selects columns of a head and of an overlay. A field that neither of them has is null in all rows.
     *
     * @param overlay the fields and columns that replace those of the head; null for none
     */
    private ChunkHead(ChunkHead base, @Nullable ChunkHead overlay, List<Field> fields) {
        this.file = base.file;
        this.arrow = base.arrow;
        this.schema = base.schema;
        this.length = base.length;
        this.fields = fields;
        this.columns = new ArrowColumn[fields.size()];
        this.crcs = new ArrowColumn[columns.length];
        List<List<String>> names = new ArrayList<>();
        for (int f = 0; f < columns.length; f++) {
            int own = base.fields.indexOf(fields.get(f));
            int other = overlay == null ? -1 : overlay.fields.indexOf(fields.get(f));
            if (overlay != null && other >= 0) {
                columns[f] = overlay.columns[other];
                names.add(overlay.classes.get(other));
            } else if (own >= 0) {
                columns[f] = base.columns[own];
                crcs[f] = base.crcs[own];
                names.add(base.classes.get(own));
            } else {
                columns[f] = ArrowColumn.ofNulls(fields.get(f), base.rows());
                names.add(List.of());
            }
        }
        this.classes = List.copyOf(names);
    }

    private ChunkHead(String file, ArrowHead arrow, ChunkSchema schema, int length) throws CorruptDataException {
        this.file = file;
        this.arrow = arrow;
        this.schema = schema;
        this.length = length;
        ChunkLayout layout = schema.layout();
        this.fields = layout.fields();
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
     * Returns this head as a version has it: with the values of an overlay instead of its own ones, and with the added
     * fields, which are null if neither the chunk nor the overlay has them. All else is unchanged; the positions of the
     * overlay's values do not refer to this file.
     *
     * @param overlay the checked content of the overlay's file; null for none
     * @param added the fields that the version has beside those of dataset.json
     * @throws CorruptDataException if the overlay has other rows, or fields that the version does not have
     */
    ChunkHead with(@Nullable ChunkHead overlay, AddedFields added) throws CorruptDataException {
        List<Field> all;
        try {
            all = added.in(fields);
        } catch (IllegalArgumentException e) {
            throw CorruptDataException.mismatch(file, "its fields", "none of the name of " + added, fields);
        }
        if (overlay != null) {
            OverlayReader.checkRows(overlay, rows(), all);
        }
        return new ChunkHead(this, overlay, all);
    }

    /**
     * Returns this head with other fields, in their order. A field that it lacks is null in all rows.
     *
     * @param others small fields, then payload fields; must have all payload fields of this head
     */
    public ChunkHead select(List<Field> others) {
        return others.equals(fields) ? this : new ChunkHead(this, null, List.copyOf(others));
    }

    /** Returns the file's name for messages. */
    public String file() {
        return file;
    }

    /** Returns the identity of the chunk. */
    public ChunkIdentity identity() {
        return schema.identity();
    }

    /** Returns the fields in dataset order, with the version's added ones. */
    public List<Field> fields() {
        return fields;
    }

    /** Returns the indexes of the payload fields. */
    int[] payloadFields() {
        return IntStream.range(0, fields.size())
                .filter(f -> fields.get(f).payload())
                .toArray();
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

    /** Returns the layout of the file, which may lack fields of the version. */
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

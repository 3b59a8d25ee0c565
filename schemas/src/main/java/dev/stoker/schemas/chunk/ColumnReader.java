package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.ArrowFooter;
import dev.stoker.schemas.arrow.DetachedColumns;
import dev.stoker.schemas.arrow.HeadPart;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Reads and verifies single columns of a chunk without the rest of its head. For heads of many columns: it needs three
 * reads to open a chunk and one for each column, where {@link ChunkReader#readHead} needs one for everything. Stateless
 * after opening and thread-safe.
 *
 * <p>The footer's checksums of all parts combine to the head's checksum in the log, so footer and metadata are verified
 * although most of the head is not read.
 */
public final class ColumnReader {
    private final RangeReader file;
    private final ChunkIdentity identity;
    private final ChunkLayout layout;
    private final DetachedColumns columns;
    private final int[] crcs;

    private ColumnReader(RangeReader file, ChunkSchema schema, DetachedColumns columns, int[] crcs) {
        this.file = file;
        this.identity = schema.identity();
        this.layout = schema.layout();
        this.columns = columns;
        this.crcs = crcs;
    }

    /**
     * Reads the footer and the record batch's metadata, and checks them against the log or the chunk table.
     *
     * @throws IllegalArgumentException if the chunk has an overlay: see {@link OverlayReader}
     */
    public static ColumnReader open(RangeReader file, ChunkSummary expected) throws IOException {
        OverlayReader.requireNone(expected);
        String name = file.name();
        ArrowFooter footer = ChunkReader.readFooter(file, expected);
        ChunkSchema schema = ChunkSchema.read(footer.schema(), name);
        ArrowFooter.Block batch = footer.recordBatch();
        long end = batch.position() + batch.headLength();
        if (batch.position() < 0 || batch.headLength() < 0 || end > expected.headLength()) {
            throw CorruptDataException.mismatch(
                    name, "end of the record batch's metadata", "at most " + expected.headLength(), end);
        }
        ByteBuffer message = ChunkReader.read(file, batch.position(), batch.headLength());
        DetachedColumns columns =
                DetachedColumns.read(footer, schema.layout().batch(), message, expected.length(), name);
        checkPlaces(columns, expected, name);
        int[] crcs = HeadChecksums.parse(
                footer.metadata().get(HeadChecksums.KEY), columns.parts().size(), name);
        checkEmpty(columns, crcs, name);
        int combined = HeadChecksums.combined(columns, crcs, expected.headLength());
        if (combined != expected.headCrc32c()) {
            throw CorruptDataException.mismatch(
                    name,
                    "CRC32C of the head, combined from the footer",
                    Crc32cs.hex(expected.headCrc32c()),
                    Crc32cs.hex(combined));
        }
        ColumnReader reader = new ColumnReader(file, schema, columns, crcs);
        reader.check(footer.dictionaries().size(), message);
        ChunkReader.checkIdentity(schema.identity(), columns.rows(), expected, name);
        return reader;
    }

    /** Checks that the parts follow one another within the head. */
    private static void checkPlaces(DetachedColumns columns, ChunkSummary expected, String name)
            throws CorruptDataException {
        long end = columns.opening().remaining();
        for (HeadPart part : columns.parts()) {
            if (part.position() < end || part.length() < 0 || part.end() > expected.headLength()) {
                throw CorruptDataException.mismatch(
                        name,
                        "place of a part of the head",
                        "between " + end + " and " + expected.headLength(),
                        part.position() + " to " + part.end());
            }
            end = part.end();
        }
    }

    /** Checks the checksums of empty parts, which do not take part in the combination. */
    private static void checkEmpty(DetachedColumns columns, int[] crcs, String name) throws CorruptDataException {
        for (int p = 0; p < crcs.length; p++) {
            if (columns.parts().get(p).length() == 0 && crcs[p] != 0) {
                throw CorruptDataException.mismatch(
                        name, "CRC32C of an empty buffer", Crc32cs.hex(0), Crc32cs.hex(crcs[p]));
            }
        }
    }

    /** Returns the identity of the chunk. */
    public ChunkIdentity identity() {
        return identity;
    }

    /** Returns the dataset's fields in dataset order. */
    public List<Field> fields() {
        return layout.fields();
    }

    /** Returns the number of samples. */
    public int rows() {
        return columns.rows();
    }

    /** Reads the keys. */
    public ArrowColumn keys() throws IOException {
        return read(0);
    }

    /**
     * Reads the column of a small field. Positions in it do not refer to the file.
     *
     * @throws IllegalArgumentException for a payload field
     */
    public ArrowColumn column(int field) throws IOException {
        if (field >= layout.smallFields()) {
            throw new IllegalArgumentException(
                    "field '" + layout.fields().get(field).name() + "' is payload; its samples have checksums");
        }
        ArrowColumn column = read(layout.column(field));
        if (layout.fields().get(field).type() == ScalarType.CATEGORICAL) {
            ChunkHead.checkClassIds(column, classes(field).size(), file.name());
        }
        return column;
    }

    /**
     * Contains the places and checksums of the values of a payload field.
     *
     * @param values validity, positions and lengths; not the values
     * @param origin the position in the file of index 0 of {@code values}
     * @param crcs the CRC-32C of each value
     */
    public record Payload(ArrowColumn values, long origin, ArrowColumn crcs) {
        /** Returns the position of a row's value in the file. */
        public long position(int row) {
            return origin + values.valuePosition(row);
        }
    }

    /**
     * Reads the places and checksums of the values of a payload field.
     *
     * @throws IllegalArgumentException for a small field
     */
    public Payload payload(int field) throws IOException {
        if (field < layout.smallFields()) {
            throw new IllegalArgumentException(
                    "field '" + layout.fields().get(field).name() + "' is not payload");
        }
        int column = layout.column(field);
        long origin = columns.parts().get(columns.partsOf(column).get(0)).position();
        return new Payload(read(column), origin, payloadCrcs(field));
    }

    /**
     * Reads the checksums of the values of a payload field, as a column of uint32.
     *
     * @throws IllegalArgumentException for a small field
     */
    public ArrowColumn payloadCrcs(int field) throws IOException {
        if (field < layout.smallFields()) {
            throw new IllegalArgumentException(
                    "field '" + layout.fields().get(field).name() + "' is not payload");
        }
        return read(layout.crcColumn(field));
    }

    /** Reads the class names of a categorical field, by chunk-local id. */
    public List<String> classes(int field) throws IOException {
        int part = columns.dictionaryPart(layout.column(field));
        HeadPart place = columns.parts().get(part);
        ByteBuffer bytes = ChunkReader.read(file, place.position(), place.length());
        check(part, bytes);
        return ClassNames.read(columns.dictionary(layout.column(field), bytes), rows(), file.name());
    }

    private ArrowColumn read(int column) throws IOException {
        List<Integer> parts = columns.partsOf(column);
        long start = columns.parts().get(parts.get(0)).position();
        long end = columns.parts().get(parts.get(parts.size() - 1)).end();
        ByteBuffer bytes = ChunkReader.read(file, start, (int) (end - start));
        for (int part : parts) {
            HeadPart place = columns.parts().get(part);
            check(part, bytes.slice((int) (place.position() - start), place.length()));
        }
        return columns.column(column, bytes);
    }

    private void check(int part, ByteBuffer bytes) throws CorruptDataException {
        int found = Crc32cs.of(bytes);
        if (found != crcs[part]) {
            HeadPart place = columns.parts().get(part);
            throw CorruptDataException.mismatch(
                    file.name(),
                    "CRC32C of bytes " + place.position() + " to " + place.end(),
                    Crc32cs.hex(crcs[part]),
                    Crc32cs.hex(found));
        }
    }
}

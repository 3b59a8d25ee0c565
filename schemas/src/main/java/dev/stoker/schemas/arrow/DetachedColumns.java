package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Opens single columns of an Arrow file with one record batch, each from its own bytes. Knows the footer and the
 * metadata of the record batch, but no other byte of the file. Immutable and thread-safe.
 */
public final class DetachedColumns {
    private final ArrowFooter footer;
    private final RecordBatchLayout layout;
    private final RecordBatch batch;
    private final List<HeadPart> parts;
    private final String file;

    private DetachedColumns(
            ArrowFooter footer, RecordBatchLayout layout, RecordBatch batch, List<HeadPart> parts, String file) {
        this.footer = footer;
        this.layout = layout;
        this.batch = batch;
        this.parts = parts;
        this.file = file;
    }

    /**
     * Reads the metadata of the record batch and checks that it has the canonical layout.
     *
     * @param message the record batch without its body, from index 0 to the limit
     * @param end bytes of the file in which the body must have ended
     */
    public static DetachedColumns read(
            ArrowFooter footer, RecordBatchLayout layout, ByteBuffer message, long end, String file)
            throws StokerException {
        ArrowFooter.Block block = footer.recordBatch();
        ByteBuffer bytes = message.duplicate().position(0).order(ByteOrder.LITTLE_ENDIAN);
        RecordBatch batch = RecordBatch.read(bytes, layout, end - block.position(), file);
        long[] expected = new long[layout.buffers()];
        layout.place(batch.lengths(), expected);
        if (!Arrays.equals(expected, batch.offsets()) || batch.headLength() != block.headLength()) {
            throw CorruptDataException.mismatch(
                    file,
                    "layout of the record batch",
                    "buffers at " + Arrays.toString(expected),
                    Arrays.toString(batch.offsets()));
        }
        checkDictionaries(footer, end, file);
        List<HeadPart> parts = HeadPart.of(footer.dictionaries(), block, layout, batch.offsets(), batch.lengths());
        return new DetachedColumns(footer, layout, batch, parts, file);
    }

    private static void checkDictionaries(ArrowFooter footer, long end, String file) throws CorruptDataException {
        long count = footer.schema().fields().stream()
                .filter(field -> field.type() == ScalarType.CATEGORICAL)
                .count();
        if (footer.dictionaries().size() != count) {
            throw CorruptDataException.mismatch(
                    file, "dictionaries", count, footer.dictionaries().size());
        }
        for (ArrowFooter.Block block : footer.dictionaries()) {
            boolean isWithin = block.position() >= 0
                    && block.headLength() >= 0
                    && block.bodyLength() >= 0
                    && block.position() <= end
                    && block.bodyLength() <= end - block.position() - block.headLength();
            if (!isWithin) {
                throw CorruptDataException.mismatch(file, "place of a dictionary", "within " + end + " bytes", block);
            }
        }
    }

    /** Returns the bytes of the file before the first dictionary or record batch, which follow from the schema. */
    public ByteBuffer opening() {
        return ByteBuffer.wrap(ArrowHead.opening(footer.schema()));
    }

    /** Returns the number of rows. */
    public int rows() {
        return batch.rows();
    }

    /** Returns the parts of the head, in file order. */
    public List<HeadPart> parts() {
        return parts;
    }

    /** Returns the indexes in {@link #parts} of the buffers of a column, without the values buffer of payload. */
    public List<Integer> partsOf(int column) {
        List<Integer> indexes = new ArrayList<>();
        int part = footer.dictionaries().size();
        for (int b = 0; b <= layout.valuesBuffer(column); b++) {
            part += layout.isPayload(b) ? 0 : 1;
            if (b >= layout.validityBuffer(column) && !layout.isPayload(b)) {
                indexes.add(part);
            }
        }
        return indexes;
    }

    /** Returns the index in {@link #parts} of the dictionary of a categorical column. */
    public int dictionaryPart(int column) {
        int part = 0;
        for (ArrowField field : footer.schema().fields().subList(0, column)) {
            part += field.type() == ScalarType.CATEGORICAL ? 1 : 0;
        }
        return part;
    }

    /**
     * Opens a column. Its positions refer to {@code bytes}. Positions of payload are beyond the end of these bytes.
     *
     * @param bytes the column's parts with the padding between them, from index 0 to the limit; must not change
     */
    public ArrowColumn column(int column, ByteBuffer bytes) throws CorruptDataException {
        int start = (int) batch.offsets()[layout.validityBuffer(column)];
        ByteBuffer own = bytes.duplicate().position(0).order(ByteOrder.LITTLE_ENDIAN);
        ArrowField field = footer.schema().fields().get(column);
        return ArrowColumn.open(field, column, layout, batch, own, -start, file);
    }

    /**
     * Opens the dictionary of a categorical column: its class names.
     *
     * @param bytes the dictionary batch with its body, from index 0 to the limit; must not change
     */
    public ArrowColumn dictionary(int column, ByteBuffer bytes) throws StokerException {
        ByteBuffer own = bytes.duplicate().position(0).order(ByteOrder.LITTLE_ENDIAN);
        String name = footer.schema().fields().get(column).name();
        DictionaryBatch dictionary = DictionaryBatch.read(own, 0, column, name, file);
        dictionary.checkCanonical(file);
        return dictionary.names();
    }
}

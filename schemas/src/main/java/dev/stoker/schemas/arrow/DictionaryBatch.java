package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.flatbuf.MessageHeader;

/**
 * Contains the class names of a categorical column: a message with one utf8 column, whose rows are the names by index.
 * The number of the categorical column is the dictionary's id. Immutable and thread-safe.
 */
public final class DictionaryBatch {
    private static final RecordBatchLayout LAYOUT =
            RecordBatchLayout.of(List.of(ScalarType.UTF8), new boolean[] {false});

    private final int column;
    private final int position;
    private final RecordBatch batch;
    private final ArrowColumn names;

    private DictionaryBatch(int column, int position, RecordBatch batch, ArrowColumn names) {
        this.column = column;
        this.position = position;
        this.batch = batch;
        this.names = names;
    }

    /**
     * Returns the message, padded to a multiple of 64.
     *
     * @param column the categorical column
     * @param names class names in the order of their indices
     */
    static byte[] write(int column, List<String> names) {
        ColumnBuilder values = new ColumnBuilder(ArrowField.of("", ScalarType.UTF8));
        names.forEach(values::appendString);
        ByteBuffer[] buffers = values.buffers();
        long[] lengths = new long[buffers.length];
        for (int b = 0; b < buffers.length; b++) {
            lengths[b] = buffers[b].remaining();
        }
        long[] offsets = new long[buffers.length];
        LAYOUT.place(lengths, offsets);
        long length = LAYOUT.dictionaryHeadLength() + LAYOUT.bodyLength(lengths);
        ByteBuffer out = ByteBuffer.allocate(Math.toIntExact(length)).order(ByteOrder.LITTLE_ENDIAN);
        LAYOUT.writeDictionaryHead(out, column, names.size(), offsets, lengths);
        for (int b = 0; b < buffers.length; b++) {
            out.put(LAYOUT.dictionaryHeadLength() + (int) offsets[b], buffers[b], 0, (int) lengths[b]);
        }
        return out.array();
    }

    /**
     * Returns the length of a message.
     *
     * @param names number of names
     * @param nameBytes bytes of all names in UTF-8
     */
    public static long length(int names, long nameBytes) {
        long offsets = RecordBatchLayout.align(4L * (names + 1L));
        return LAYOUT.dictionaryHeadLength() + offsets + RecordBatchLayout.align(nameBytes);
    }

    /**
     * Reads the dictionaries of all categorical columns of a schema.
     *
     * @param bytes the file or its head from index 0 to the limit; little-endian
     * @param at position of the first dictionary batch
     */
    static List<DictionaryBatch> readAll(ByteBuffer bytes, int at, ArrowSchema schema, String file)
            throws StokerException {
        List<DictionaryBatch> dictionaries = new ArrayList<>();
        int position = at;
        for (int column = 0; column < schema.fields().size(); column++) {
            ArrowField field = schema.fields().get(column);
            if (field.type() == ScalarType.CATEGORICAL) {
                DictionaryBatch dictionary = read(bytes, position, column, field.name(), file);
                dictionaries.add(dictionary);
                position += (int) dictionary.length();
            }
        }
        return List.copyOf(dictionaries);
    }

    /** Reads the dictionary batch at a position. */
    static DictionaryBatch read(ByteBuffer bytes, int at, int column, String name, String file) throws StokerException {
        String what = "dictionary of column " + name;
        ByteBuffer message = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).position(at);
        ByteBuffer flatbuffer = Message.flatbuffer(message, file, what);
        FlatReader in = new FlatReader(flatbuffer, file, what);
        int root = in.root();
        int header = Message.header(in, root, MessageHeader.DictionaryBatch, "the " + what, file);
        int data = in.reference(header, 1);
        if (data == 0) {
            throw in.corrupt("the message has no data");
        }
        long id = in.i64Field(header, 0);
        if (id != column || in.booleanField(header, 2)) {
            throw new ForeignFileException(
                    file,
                    "the whole dictionary " + column + " of column " + name,
                    "there is " + (in.booleanField(header, 2) ? "a delta of" : "") + " dictionary " + id);
        }
        int headLength = RecordBatchLayout.PREFIX + flatbuffer.remaining();
        RecordBatch batch = RecordBatch.read(in, root, data, LAYOUT, headLength, bytes.limit() - (long) at, file);
        ArrowField names = ArrowField.of("class names of " + name, ScalarType.UTF8);
        return new DictionaryBatch(
                column, at, batch, ArrowColumn.open(names, 0, LAYOUT, batch, bytes, at + headLength, file));
    }

    int column() {
        return column;
    }

    ArrowColumn names() {
        return names;
    }

    /** Returns the bytes of the message, including its body. */
    long length() {
        return batch.headLength() + batch.bodyLength();
    }

    ArrowFooter.Block block() {
        return new ArrowFooter.Block(position, batch.headLength(), batch.bodyLength());
    }

    /** Returns the place of a message that {@link #write} made. */
    static ArrowFooter.Block block(int position, int length) {
        int head = LAYOUT.dictionaryHeadLength();
        return new ArrowFooter.Block(position, head, length - head);
    }

    void checkCanonical(String file) throws CorruptDataException {
        long[] expected = new long[LAYOUT.buffers()];
        LAYOUT.place(batch.lengths(), expected);
        if (!Arrays.equals(expected, batch.offsets())
                || batch.headLength() != LAYOUT.dictionaryHeadLength()
                || batch.bodyLength() != LAYOUT.bodyLength(batch.lengths())) {
            throw CorruptDataException.mismatch(
                    file,
                    "layout of the " + names.field().name(),
                    "buffers at " + Arrays.toString(expected),
                    Arrays.toString(batch.offsets()) + " in a body of " + batch.bodyLength());
        }
    }
}

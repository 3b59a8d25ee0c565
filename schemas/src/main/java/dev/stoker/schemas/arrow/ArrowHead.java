package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.arrow.flatbuf.MessageHeader;

/**
 * Reads the beginning of an Arrow file with one record batch: magic, schema message, dictionary batches, record batch
 * message, and the part of the body before the payload. Immutable and thread-safe.
 */
public final class ArrowHead {
    /** First bytes of a file, padding included. */
    static final byte[] MAGIC = "ARROW1\0\0".getBytes(StandardCharsets.US_ASCII);

    private final ArrowSchema schema;
    private final RecordBatchLayout layout;
    private final RecordBatch batch;
    private final List<DictionaryBatch> dictionaries;
    private final int messageAt;
    private final List<ArrowColumn> columns;

    private ArrowHead(
            ArrowSchema schema,
            List<DictionaryBatch> dictionaries,
            RecordBatchLayout layout,
            RecordBatch batch,
            int messageAt,
            List<ArrowColumn> columns) {
        this.schema = schema;
        this.dictionaries = dictionaries;
        this.layout = layout;
        this.batch = batch;
        this.messageAt = messageAt;
        this.columns = columns;
    }

    /** Determines the payload columns of a schema. */
    @FunctionalInterface
    public interface PayloadColumns {
        /** Returns one flag for each column. */
        boolean[] of(ArrowSchema schema) throws StokerException;
    }

    /**
     * Contains the beginning of a file up to the record batch message.
     *
     * @param bytes the bytes; their number is a multiple of 64
     * @param dictionaries the dictionary batches among them
     */
    public record Opening(byte[] bytes, List<ArrowFooter.Block> dictionaries) {}

    /**
     * Returns magic, schema message and dictionary batches.
     *
     * @param classes class names of each categorical column, by column, in the order of their indices
     */
    public static Opening opening(ArrowSchema schema, Map<Integer, List<String>> classes) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(opening(schema));
        List<ArrowFooter.Block> dictionaries = new ArrayList<>();
        for (int column = 0; column < schema.fields().size(); column++) {
            if (schema.fields().get(column).type() == ScalarType.CATEGORICAL) {
                byte[] message = DictionaryBatch.write(
                        column, Objects.requireNonNull(classes.get(column), "a categorical column has classes"));
                dictionaries.add(DictionaryBatch.block(bytes.size(), message.length));
                bytes.writeBytes(message);
            }
        }
        return new Opening(bytes.toByteArray(), List.copyOf(dictionaries));
    }

    /** Returns magic and schema message, padded to a multiple of 64. */
    public static byte[] opening(ArrowSchema schema) {
        byte[] flatbuffer = SchemaFlatbuffer.fileMessage(schema);
        int prefix = MAGIC.length + RecordBatchLayout.PREFIX;
        int length = (int) RecordBatchLayout.align(prefix + (long) flatbuffer.length);
        ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        out.put(MAGIC).putInt(0xFFFFFFFF).putInt(length - prefix).put(flatbuffer);
        return out.array();
    }

    /**
     * Reads the beginning of a file.
     *
     * @param head from index 0 to the limit: the file, or at least the part before the first payload data buffer; must
     *     not change
     * @param payload determines the columns whose values may be beyond the head
     * @param end bytes of the file in which the body must have ended
     * @param file the file's name for messages
     */
    public static ArrowHead read(ByteBuffer head, PayloadColumns payload, long end, String file)
            throws StokerException {
        ByteBuffer bytes = head.duplicate().position(0).order(ByteOrder.LITTLE_ENDIAN);
        checkMagic(bytes, file);
        ByteBuffer at = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).position(MAGIC.length);
        ByteBuffer flatbuffer = Message.flatbuffer(at, file, "schema message");
        FlatReader in = new FlatReader(flatbuffer, file, "schema message");
        int header = Message.header(in, in.root(), MessageHeader.Schema, "a schema", file);
        ArrowSchema schema = new SchemaReader(in, file).read(header);

        int messageAt = MAGIC.length + RecordBatchLayout.PREFIX + flatbuffer.remaining();
        List<DictionaryBatch> dictionaries = DictionaryBatch.readAll(bytes, messageAt, schema, file);
        for (DictionaryBatch dictionary : dictionaries) {
            messageAt += (int) dictionary.length();
        }
        List<FieldType> types = schema.fields().stream().map(ArrowField::type).toList();
        RecordBatchLayout layout = RecordBatchLayout.of(types, payload.of(schema));
        ByteBuffer message = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).position(messageAt);
        RecordBatch batch = RecordBatch.read(message, layout, end - messageAt, file);
        int bodyAt = messageAt + batch.headLength();
        for (int b = 0; b < layout.buffers(); b++) {
            long last = bodyAt + batch.offsets()[b] + batch.lengths()[b];
            long limit = layout.isPayload(b) ? Math.min(end, Integer.MAX_VALUE) : bytes.limit();
            if (last > limit) {
                throw CorruptDataException.mismatch(file, "end of buffer " + b, "at most " + limit, last);
            }
        }
        List<ArrowColumn> columns = new ArrayList<>();
        for (int c = 0; c < types.size(); c++) {
            columns.add(ArrowColumn.open(schema.fields().get(c), c, layout, batch, bytes, bodyAt, file));
        }
        return new ArrowHead(schema, dictionaries, layout, batch, messageAt, List.copyOf(columns));
    }

    /** Returns the schema, including its metadata. */
    public ArrowSchema schema() {
        return schema;
    }

    /** Returns the number of rows of the record batch. */
    public int rows() {
        return batch.rows();
    }

    /** Returns the columns in schema order. */
    public List<ArrowColumn> columns() {
        return columns;
    }

    /** Returns the class names of a categorical column, one for each index. */
    public ArrowColumn dictionary(int column) {
        for (DictionaryBatch dictionary : dictionaries) {
            if (dictionary.column() == column) {
                return dictionary.names();
            }
        }
        throw new IllegalArgumentException("column " + column + " has no dictionary");
    }

    /** Returns the position of the record batch message in the file. */
    public int messagePosition() {
        return messageAt;
    }

    /** Returns the position of the message's body in the file. */
    public int bodyPosition() {
        return messageAt + batch.headLength();
    }

    /** Returns the length of the body in bytes. */
    public long bodyLength() {
        return batch.bodyLength();
    }

    /**
     * Checks that dictionaries and record batch have the canonical layout, without overlaps and gaps.
     *
     * @return position of the first payload data buffer in the file, or the end of the body if there is none
     */
    public int checkCanonical(String file) throws StokerException {
        for (DictionaryBatch dictionary : dictionaries) {
            dictionary.checkCanonical(file);
        }
        long[] expected = new long[layout.buffers()];
        long small = layout.place(batch.lengths(), expected);
        if (!Arrays.equals(expected, batch.offsets())
                || batch.headLength() != layout.headLength()
                || batch.bodyLength() != layout.bodyLength(batch.lengths())) {
            throw CorruptDataException.mismatch(
                    file,
                    "layout of the record batch",
                    "buffers at " + Arrays.toString(expected),
                    Arrays.toString(batch.offsets()) + " in a body of " + batch.bodyLength());
        }
        return (int) (bodyPosition() + small);
    }

    /** Returns the parts of the head that have their own checksums in a chunk's footer, in file order. */
    public List<HeadPart> parts() {
        return HeadPart.of(
                dictionaries.stream().map(DictionaryBatch::block).toList(),
                new ArrowFooter.Block(messageAt, batch.headLength(), batch.bodyLength()),
                layout,
                batch.offsets(),
                batch.lengths());
    }

    /** Returns the footer that belongs to this head. */
    public ArrowFooter footer(Map<String, String> metadata) {
        return new ArrowFooter(
                schema.without(ArrowFile.SELF_KEY),
                dictionaries.stream().map(DictionaryBatch::block).toList(),
                new ArrowFooter.Block(messageAt, batch.headLength(), batch.bodyLength()),
                metadata);
    }

    private static void checkMagic(ByteBuffer bytes, String file) throws StokerException {
        if (bytes.limit() < MAGIC.length || !bytes.slice(0, MAGIC.length).equals(ByteBuffer.wrap(MAGIC))) {
            throw new ForeignFileException(file, "an Arrow file", "it does not begin with ARROW1");
        }
    }
}

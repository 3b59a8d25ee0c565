package dev.stoker.schemas.arrow;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.arrow.flatbuf.MessageHeader;

/**
 * An Arrow IPC file with one record batch. Immutable; any thread.
 *
 * <pre>
 * ARROW1 00 00 | schema message, zeros to a multiple of 64 | record batch message | FFFFFFFF 00000000
 *              | footer flatbuffer | i32 its length | ARROW1
 * </pre>
 */
public final class ArrowFile {
    /**
     * A schema metadata key that stands in the leading schema message only, not in the footer's copy: a text that may
     * occur once per file can have its place here. See {@link #schema()}.
     */
    public static final String SELF_KEY = "stoker.self";

    /** First bytes of a file, padding included. */
    static final byte[] MAGIC = "ARROW1\0\0".getBytes(StandardCharsets.US_ASCII);

    private static final int END_MAGIC = 6;
    private static final long END_OF_STREAM = 0x00000000FFFFFFFFL;

    private final ArrowSchema schema;
    private final int rows;
    private final List<ArrowColumn> columns;
    private final Map<String, String> footerMetadata;

    private ArrowFile(ArrowSchema schema, int rows, List<ArrowColumn> columns, Map<String, String> footerMetadata) {
        this.schema = schema;
        this.rows = rows;
        this.columns = columns;
        this.footerMetadata = footerMetadata;
    }

    /**
     * The bytes of a file with these columns; the same bytes for the same arguments.
     *
     * @param schema its fields describe the columns in order
     * @param columns one for each field, all with the same number of rows
     * @param footerMetadata custom metadata of the footer
     */
    public static byte[] write(ArrowSchema schema, List<ColumnBuilder> columns, Map<String, String> footerMetadata) {
        int rows = columns.isEmpty() ? 0 : columns.get(0).rows();
        for (int c = 0; c < columns.size(); c++) {
            if (columns.get(c).rows() != rows
                    || !columns.get(c).field().equals(schema.fields().get(c))) {
                throw new IllegalArgumentException(
                        "column " + columns.get(c).field().name() + " does not belong to"
                                + " the schema or has another number of rows than " + rows);
            }
        }
        List<FieldType> types = schema.fields().stream().map(ArrowField::type).toList();
        RecordBatchLayout layout = RecordBatchLayout.of(types, new boolean[types.size()]);
        BodyBuffers body = BodyBuffers.of(layout, columns);
        byte[] head = schemaMessage(schema);
        BatchBlock block = new BatchBlock(head.length, layout.headLength(), layout.bodyLength(body.lengths()));
        byte[] tail = tail(schema.without(SELF_KEY), block, footerMetadata);
        long length = head.length + (long) block.metadataLength() + block.bodyLength() + tail.length;
        if (length > Integer.MAX_VALUE - 8) {
            throw new IllegalStateException("an Arrow file of " + length + " bytes; 2^31 is the limit");
        }
        ByteBuffer out = ByteBuffer.allocate((int) length).order(ByteOrder.LITTLE_ENDIAN);
        out.put(head);
        body.write(out, layout, rows);
        out.put(tail);
        return out.array();
    }

    /**
     * Reads a file that lies in memory.
     *
     * @param file from index 0 to the limit; must not change
     * @param name the file's name for messages
     */
    public static ArrowFile read(ByteBuffer file, String name) throws StokerException {
        ByteBuffer bytes = file.duplicate().position(0).order(ByteOrder.LITTLE_ENDIAN);
        int end = checkEnds(bytes, name);
        Footer footer = Footer.read(bytes, end, name);
        Opening opening = Opening.read(bytes, name);
        BatchBlock block = footer.block();
        if (block.offset() != opening.length()) {
            throw CorruptDataException.mismatch(name, "record batch offset", opening.length(), block.offset());
        }
        ArrowSchema schema = opening.schema();
        if (!footer.schema().equals(schema.without(SELF_KEY))) {
            throw CorruptDataException.mismatch(name, "footer's schema", schema.without(SELF_KEY), footer.schema());
        }
        boolean[] payload = new boolean[schema.fields().size()];
        Columns read = Columns.read(bytes, opening.length(), schema, payload, footer.offset(), name);
        RecordBatch batch = read.batch();
        if (batch.headLength() != block.metadataLength() || batch.bodyLength() != block.bodyLength()) {
            throw CorruptDataException.mismatch(
                    name,
                    "record batch block",
                    batch.headLength() + "+" + batch.bodyLength() + " bytes",
                    block.metadataLength() + "+" + block.bodyLength());
        }
        return new ArrowFile(schema, batch.rows(), read.columns(), footer.metadata());
    }

    /** The leading schema message's schema. The footer's lacks {@link #SELF_KEY}, everything else is equal. */
    public ArrowSchema schema() {
        return schema;
    }

    /** Rows of the record batch. */
    public int rows() {
        return rows;
    }

    /** A column by its index. */
    public ArrowColumn column(int index) {
        return columns.get(index);
    }

    /** A column by its name; IllegalArgumentException when there is none. */
    public ArrowColumn column(String name) {
        int index = schema.indexOf(name);
        if (index < 0) {
            throw new IllegalArgumentException("no column " + name);
        }
        return columns.get(index);
    }

    /** Custom metadata of the footer. */
    public Map<String, String> footerMetadata() {
        return footerMetadata;
    }

    /** Magic and schema message, padded so that it ends at a multiple of 64. */
    static byte[] schemaMessage(ArrowSchema schema) {
        byte[] flatbuffer = SchemaFlatbuffer.message(schema);
        int prefix = MAGIC.length + RecordBatchLayout.PREFIX;
        int length = (int) RecordBatchLayout.align(prefix + (long) flatbuffer.length);
        ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        out.put(MAGIC).putInt(0xFFFFFFFF).putInt(length - prefix).put(flatbuffer);
        return out.array();
    }

    /** What follows the body. */
    static byte[] tail(ArrowSchema schema, BatchBlock block, Map<String, String> metadata) {
        byte[] footer = SchemaFlatbuffer.footer(schema, block, metadata);
        ByteBuffer out = ByteBuffer.allocate(8 + footer.length + 4 + END_MAGIC).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(END_OF_STREAM).put(footer).putInt(footer.length).put(MAGIC, 0, END_MAGIC);
        return out.array();
    }

    /** Checks both magics; returns where the footer's length stands. */
    static int checkEnds(ByteBuffer bytes, String name) throws StokerException {
        int length = bytes.limit();
        if (length < MAGIC.length + RecordBatchLayout.PREFIX + 4 + END_MAGIC) {
            throw CorruptDataException.mismatch(name, "file length", "an Arrow file", length + " bytes");
        }
        checkMagic(bytes, name);
        for (int i = 0; i < END_MAGIC; i++) {
            if (bytes.get(length - END_MAGIC + i) != MAGIC[i]) {
                throw CorruptDataException.mismatch(name, "last bytes", "ARROW1", "others; the file may be truncated");
            }
        }
        return length - END_MAGIC - 4;
    }

    private static void checkMagic(ByteBuffer bytes, String name) throws StokerException {
        for (int i = 0; i < MAGIC.length; i++) {
            if (bytes.limit() <= i || bytes.get(i) != MAGIC[i]) {
                throw new ForeignFileException(name, "an Arrow file", "it does not begin with ARROW1");
            }
        }
    }

    /** Magic and leading schema message; {@code length} is where the record batch message begins. */
    record Opening(ArrowSchema schema, int length) {
        static Opening read(ByteBuffer bytes, String name) throws StokerException {
            checkMagic(bytes, name);
            ByteBuffer at = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).position(MAGIC.length);
            ByteBuffer flatbuffer = RecordBatch.Message.flatbuffer(at, name, "schema message");
            FlatReader in = new FlatReader(flatbuffer, name, "schema message");
            int header = RecordBatch.Message.header(in, in.root(), MessageHeader.Schema, "a schema", name);
            int length = MAGIC.length + RecordBatchLayout.PREFIX + flatbuffer.remaining();
            return new Opening(new SchemaReader(in, name).read(header), length);
        }
    }

    /** A footer; {@code offset} is where its flatbuffer begins. */
    record Footer(int offset, ArrowSchema schema, BatchBlock block, Map<String, String> metadata) {
        private static final int VERSION_5 = 4;

        static Footer read(ByteBuffer bytes, int end, String name) throws StokerException {
            int length = bytes.getInt(end);
            if (length < 8 || length > end - MAGIC.length) {
                throw CorruptDataException.mismatch(name, "footer length", "8 to " + (end - MAGIC.length), length);
            }
            FlatReader in = new FlatReader(bytes.slice(end - length, length), name, "footer");
            int root = in.root();
            int version = in.i16Field(root, 0);
            if (version > VERSION_5) {
                throw new FormatTooNewException(name, "Arrow metadata V" + (version + 1), VERSION_5 + 1);
            }
            int schema = in.reference(root, 1);
            int batches = in.reference(root, 3);
            int count = in.vectorLength(batches, 24);
            if (version != VERSION_5 || schema == 0 || in.vectorLength(in.reference(root, 2), 24) != 0) {
                throw new ForeignFileException(
                        name,
                        "an Arrow file as Stoker writes it",
                        "its footer has dictionaries, no schema, or an old version");
            }
            if (count != 1) {
                throw new ForeignFileException(
                        name, "an Arrow file with one record batch", "its footer lists " + count);
            }
            BatchBlock block = new BatchBlock(in.i64(batches + 4), in.i32(batches + 12), in.i64(batches + 20));
            SchemaReader reader = new SchemaReader(in, name);
            return new Footer(end - length, reader.read(schema), block, reader.pairs(in.reference(root, 4)));
        }
    }

    /** The columns of a record batch message. */
    record Columns(RecordBatch batch, int bodyAt, List<ArrowColumn> columns) {
        /**
         * Reads and checks a message.
         *
         * @param bytes the file from index 0; must reach to the first payload data buffer
         * @param at where the message begins
         * @param payload columns whose values need not lie within the bytes
         * @param end where the body must have ended
         */
        static Columns read(ByteBuffer bytes, int at, ArrowSchema schema, boolean[] payload, long end, String name)
                throws StokerException {
            List<FieldType> types =
                    schema.fields().stream().map(ArrowField::type).toList();
            RecordBatchLayout layout = RecordBatchLayout.of(types, payload);
            ByteBuffer message =
                    bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).position(at);
            RecordBatch batch = RecordBatch.read(message, layout, end - at, name);
            int bodyAt = at + batch.headLength();
            for (int b = 0; b < layout.buffers(); b++) {
                long last = bodyAt + batch.offsets()[b] + batch.lengths()[b];
                if (last > (layout.isPayload(b) ? Math.min(end, Integer.MAX_VALUE) : bytes.limit())) {
                    throw CorruptDataException.mismatch(name, "end of buffer " + b, "at most " + bytes.limit(), last);
                }
            }
            List<ArrowColumn> columns = new ArrayList<>();
            for (int c = 0; c < types.size(); c++) {
                columns.add(ArrowColumn.open(schema.fields().get(c), c, layout, batch, bytes, bodyAt, name));
            }
            return new Columns(batch, bodyAt, List.copyOf(columns));
        }
    }
}

package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Describes the end of an Arrow file with any number of record batches and without dictionaries.
 *
 * <pre>
 * footer flatbuffer | i32 its length | ARROW1
 * </pre>
 *
 * @param schema the footer's copy
 * @param batches the record batches, in file order
 * @param metadata custom metadata in the order in which it is written
 */
public record BatchedFooter(ArrowSchema schema, List<ArrowFooter.Block> batches, Map<String, String> metadata) {
    private static final byte[] MAGIC = "ARROW1".getBytes(StandardCharsets.US_ASCII);
    private static final int VERSION_5 = 4;
    private static final int BLOCK_SIZE = 24;

    public BatchedFooter {
        batches = List.copyOf(batches);
        metadata = Collections.unmodifiableMap(new LinkedHashMap<>(metadata));
    }

    /** Returns the bytes from the flatbuffer to the file's end. */
    public byte[] encode() {
        byte[] footer = SchemaFlatbuffer.footer(schema, List.of(), batches, metadata);
        ByteBuffer out = ByteBuffer.allocate(footer.length + ArrowFooter.ENDING).order(ByteOrder.LITTLE_ENDIAN);
        out.put(footer).putInt(footer.length).put(MAGIC);
        return out.array();
    }

    /**
     * Returns the number of bytes from the flatbuffer to the file's end.
     *
     * @param ending the last {@value ArrowFooter#ENDING} bytes of the file
     * @param fileLength length of the file in bytes
     * @throws CorruptDataException if the file does not end like an Arrow file
     */
    public static int lengthOf(ByteBuffer ending, long fileLength, String file) throws StokerException {
        if (ending.limit() != ArrowFooter.ENDING
                || !ending.slice(4, MAGIC.length).equals(ByteBuffer.wrap(MAGIC))) {
            throw CorruptDataException.mismatch(
                    file, "end of the file", "ARROW1", "other bytes; it may have been truncated");
        }
        int length = ending.duplicate().order(ByteOrder.LITTLE_ENDIAN).getInt(0);
        long most = Math.min(fileLength, Integer.MAX_VALUE) - ArrowFooter.ENDING;
        if (length < 8 || length > most) {
            throw CorruptDataException.mismatch(file, "footer length", "8 to " + most + " bytes", length);
        }
        return length + ArrowFooter.ENDING;
    }

    /**
     * Reads a footer. The caller has verified a checksum of its bytes.
     *
     * @param tail the bytes from the flatbuffer to the file's end, from index 0 to the limit
     */
    public static BatchedFooter read(ByteBuffer tail, String file) throws StokerException {
        ByteBuffer flatbuffer = tail.slice(0, tail.limit() - ArrowFooter.ENDING);
        FlatReader in = new FlatReader(flatbuffer, file, "footer");
        int root = in.root();
        int version = in.i16Field(root, 0);
        if (version > VERSION_5) {
            throw new FormatTooNewException(file, "Arrow metadata V" + (version + 1), VERSION_5 + 1);
        }
        int schema = in.reference(root, 1);
        int dictionaries = in.vectorLength(in.reference(root, 2), BLOCK_SIZE);
        if (version != VERSION_5 || schema == 0 || dictionaries != 0) {
            throw new ForeignFileException(
                    file,
                    "an Arrow file with record batches only",
                    "its footer has " + dictionaries + " dictionaries and metadata V" + (version + 1));
        }
        int vector = in.reference(root, 3);
        int count = in.vectorLength(vector, BLOCK_SIZE);
        List<ArrowFooter.Block> batches = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int at = vector + 4 + BLOCK_SIZE * i;
            batches.add(new ArrowFooter.Block(in.i64(at), in.i32(at + 8), in.i64(at + 16)));
        }
        SchemaReader reader = new SchemaReader(in, file);
        return new BatchedFooter(reader.read(schema), batches, reader.pairs(in.reference(root, 4)));
    }
}

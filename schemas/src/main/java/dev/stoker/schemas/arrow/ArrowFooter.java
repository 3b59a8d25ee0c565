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
 * Describes the bytes after the body of an Arrow file with one record batch.
 *
 * <pre>
 * FFFFFFFF 00000000 | footer flatbuffer | i32 its length | ARROW1
 * </pre>
 *
 * @param schema the footer's copy
 * @param dictionaries the dictionary batches, in file order
 * @param recordBatch the record batch
 * @param metadata custom metadata in the order in which it is written
 */
public record ArrowFooter(
        ArrowSchema schema, List<Block> dictionaries, Block recordBatch, Map<String, String> metadata) {
    private static final byte[] MAGIC = "ARROW1".getBytes(StandardCharsets.US_ASCII);
    private static final long END_OF_STREAM = 0x00000000FFFFFFFFL;
    private static final int VERSION_5 = 4;
    private static final int BLOCK_SIZE = 24;

    /** Bytes of the end-of-stream marker, before the footer's flatbuffer. */
    private static final int BEFORE = 8;

    /** Bytes of length and magic at the end of the file, which {@link #tailLength} needs. */
    public static final int ENDING = 4 + 6;

    /**
     * Locates a message.
     *
     * @param position position of the message in the file
     * @param headLength bytes of the message's prefix, flatbuffer and padding
     * @param bodyLength bytes of the message's body
     */
    public record Block(long position, int headLength, long bodyLength) {}

    public ArrowFooter {
        dictionaries = List.copyOf(dictionaries);
        metadata = Collections.unmodifiableMap(new LinkedHashMap<>(metadata));
    }

    /** Returns all bytes after the body, from the end-of-stream marker to the file's end. */
    public byte[] tail() {
        return tail(SchemaFlatbuffer.footer(this));
    }

    /** Returns the tail of a file with any number of record batches, which Stoker writes only for other systems. */
    public static byte[] tail(ArrowSchema schema, List<Block> dictionaries, List<Block> batches) {
        return tail(SchemaFlatbuffer.footer(schema, dictionaries, batches, Map.of()));
    }

    private static byte[] tail(byte[] footer) {
        ByteBuffer out = ByteBuffer.allocate(BEFORE + footer.length + ENDING).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(END_OF_STREAM).put(footer).putInt(footer.length).put(MAGIC);
        return out.array();
    }

    /**
     * Returns the length of the whole tail, according to the file's last bytes.
     *
     * @param ending the last {@value #ENDING} bytes of the file, up to the limit
     * @param fileLength length of the file in bytes
     */
    public static int tailLength(ByteBuffer ending, long fileLength, String file) throws StokerException {
        int limit = ending.limit();
        if (limit < ENDING || !ending.slice(limit - MAGIC.length, MAGIC.length).equals(ByteBuffer.wrap(MAGIC))) {
            throw CorruptDataException.mismatch(
                    file, "end of the file", "ARROW1", "other bytes; it may have been truncated");
        }
        int length = ending.duplicate().order(ByteOrder.LITTLE_ENDIAN).getInt(limit - ENDING);
        long most = Math.min(fileLength, Integer.MAX_VALUE) - BEFORE - ENDING;
        if (length < 8 || length > most) {
            throw CorruptDataException.mismatch(file, "footer length", "8 to " + most + " bytes", length);
        }
        return BEFORE + length + ENDING;
    }

    /**
     * Reads a tail.
     *
     * @param tail the last {@link #tailLength} bytes of the file, up to the limit
     */
    public static ArrowFooter read(ByteBuffer tail, String file) throws StokerException {
        ByteBuffer bytes = tail.slice(0, tail.limit()).order(ByteOrder.LITTLE_ENDIAN);
        int length = tailLength(bytes, bytes.limit(), file);
        if (length != bytes.limit() || bytes.getLong(0) != END_OF_STREAM) {
            throw CorruptDataException.mismatch(
                    file, "end-of-stream marker", "ffffffff 00000000 before the footer", "other bytes");
        }
        FlatReader in = new FlatReader(bytes.slice(BEFORE, length - BEFORE - ENDING), file, "footer");
        int root = in.root();
        int version = in.i16Field(root, 0);
        if (version > VERSION_5) {
            throw new FormatTooNewException(file, "Arrow metadata V" + (version + 1), VERSION_5 + 1);
        }
        int schema = in.reference(root, 1);
        int batches = in.reference(root, 3);
        int count = in.vectorLength(batches, BLOCK_SIZE);
        if (version != VERSION_5 || schema == 0 || count != 1) {
            throw new ForeignFileException(
                    file,
                    "an Arrow file with one record batch",
                    "its footer has " + count + " record batches and metadata V" + (version + 1));
        }
        SchemaReader reader = new SchemaReader(in, file);
        return new ArrowFooter(
                reader.read(schema),
                blocks(in, in.reference(root, 2)),
                blocks(in, batches).get(0),
                reader.pairs(in.reference(root, 4)));
    }

    private static List<Block> blocks(FlatReader in, int vector) throws StokerException {
        List<Block> blocks = new ArrayList<>();
        for (int i = 0; i < in.vectorLength(vector, BLOCK_SIZE); i++) {
            int at = vector + 4 + BLOCK_SIZE * i;
            blocks.add(new Block(in.i64(at), in.i32(at + 8), in.i64(at + 16)));
        }
        return blocks;
    }
}

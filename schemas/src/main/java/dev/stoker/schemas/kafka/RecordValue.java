package dev.stoker.schemas.kafka;

import dev.stoker.schemas.arrow.ArrowStream;
import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads and writes the value of a batch record: an Arrow IPC stream with one record batch, whose message is specified
 * in {@code docs/formats/batch.md}.
 *
 * <pre>
 * schema message, zeros to a multiple of 64 | record batch message | FFFFFFFF 00000000
 * </pre>
 *
 * <p>The schema message is the same in every record of a topic.
 */
public final class RecordValue {
    private static final byte[] END = end();
    /** Position of the number of field nodes in a message, and the bytes of a node and of a buffer's entry. */
    private static final int NODES_AT = 100;

    private static final int ENTRY = 16;

    private final byte[] opening;
    private final int openingCrc;

    /** Creates values for a dataset with these fields, in dataset order. */
    public RecordValue(List<Field> fields) {
        List<ArrowField> columns = new ArrayList<>();
        columns.add(ArrowField.of(Field.KEY, ScalarType.UTF8));
        fields.forEach(field -> columns.add(ArrowField.of(field)));
        this.opening = ArrowStream.opening(ArrowSchema.of(columns));
        this.openingCrc = Crc32cs.of(opening);
    }

    private static byte[] end() {
        ByteBuffer end = ByteBuffer.allocate(ArrowStream.END_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        ArrowStream.putEnd(end);
        return end.array();
    }

    /** Returns the checksum of a value, computed from the checksum of its message. */
    public int crc(int messageCrc, int messageLength) {
        return Crc32cs.combine(Crc32cs.combine(openingCrc, messageCrc, messageLength), Crc32cs.of(END), END.length);
    }

    /** Returns the key of a message's first row. The first part contains everything except the payload. */
    public static String firstKey(ByteBuffer[] message) {
        ByteBuffer first = message[0].slice().order(ByteOrder.LITTLE_ENDIAN);
        int buffers = NODES_AT + 4 + ENTRY * first.getInt(NODES_AT) + 8;
        int body = 8 + first.getInt(4);
        int offsets = body + (int) first.getLong(buffers + ENTRY);
        int values = body + (int) first.getLong(buffers + 2 * ENTRY);
        byte[] key = new byte[first.getInt(offsets + 4)];
        first.get(values, key);
        return new String(key, StandardCharsets.UTF_8);
    }

    /**
     * Returns the record batch message in a value whose checksum has been verified, as a view from index 0 to the
     * limit.
     *
     * @param where topic, partition and offset, for messages
     * @throws CorruptDataException if the value is not an Arrow stream of one record batch
     */
    public static ByteBuffer messageIn(byte[] value, String where) throws CorruptDataException {
        ByteBuffer stream = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
        long start = value.length >= 8 ? 8L + stream.getInt(4) : 0;
        if (start < 8 || stream.getInt(0) != -1 || start % 64 != 0 || start > value.length - END.length) {
            throw new CorruptDataException(
                    where + " is corrupt: the value is not an Arrow stream; feed the epoch again into a new topic");
        }
        int length = (int) (value.length - END.length - start);
        return stream.slice((int) start, length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the number of bytes in a value besides the record batch message. */
    public int overheadBytes() {
        return opening.length + ArrowStream.END_BYTES;
    }

    /** Returns the position of the record batch message in a value. */
    public int messagePosition() {
        return opening.length;
    }

    /**
     * Builds a value around a message.
     *
     * @param message the message in parts; their positions move to their limits
     * @param length bytes of all parts
     */
    public byte[] around(ByteBuffer[] message, int length) {
        ByteBuffer out =
                ByteBuffer.allocate(Math.addExact(overheadBytes(), length)).order(ByteOrder.LITTLE_ENDIAN);
        out.put(opening);
        for (ByteBuffer part : message) {
            out.put(part);
        }
        if (out.position() != opening.length + length) {
            throw new IllegalArgumentException(
                    "a message of " + (out.position() - opening.length) + " bytes, " + length + " were said");
        }
        out.put(END);
        return out.array();
    }
}

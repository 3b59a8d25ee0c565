package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.ArrowSchema;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Writes the bytes around a record batch message in an Arrow IPC stream.
 *
 * <pre>
 * schema message, zeros to a multiple of 64 | record batch message | FFFFFFFF 00000000
 * </pre>
 */
public final class ArrowStream {
    /** Bytes after the last message. */
    public static final int END_BYTES = 8;

    private ArrowStream() {}

    /** Returns the schema message, padded to a multiple of 64. Categorical columns are ids of classes. */
    public static byte[] opening(ArrowSchema schema) {
        return opening(SchemaFlatbuffer.streamMessage(schema));
    }

    /** Returns the schema message, padded to a multiple of 64. Categorical columns are dictionaries. */
    public static byte[] openingWithDictionaries(ArrowSchema schema) {
        return opening(SchemaFlatbuffer.fileMessage(schema));
    }

    private static byte[] opening(byte[] flatbuffer) {
        int length = (int) RecordBatchLayout.align(RecordBatchLayout.PREFIX + (long) flatbuffer.length);
        ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(0xFFFFFFFF).putInt(length - RecordBatchLayout.PREFIX).put(flatbuffer);
        return out.array();
    }

    /** Writes the end of a stream. */
    public static void putEnd(ByteBuffer out) {
        out.putInt(0xFFFFFFFF).putInt(0);
    }
}

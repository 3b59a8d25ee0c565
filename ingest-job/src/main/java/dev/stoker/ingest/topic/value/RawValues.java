package dev.stoker.ingest.topic.value;

import dev.stoker.schemas.chunk.ChunkBuilder;
import java.nio.ByteBuffer;

/**
 * Values that are stored as bytes.
 *
 * @param field the field for the bytes
 */
record RawValues(int field) implements ValueDecoder {

    @Override
    public void decode(ByteBuffer value, ChunkBuilder builder) {
        builder.setBytes(field, value.duplicate());
    }
}

package dev.stoker.schemas.batch;

import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkFixtures;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Makes batches of packed chunks for tests. */
final class BatchFixtures {
    private BatchFixtures() {}

    /** Opens a packed chunk. The payload is in a direct copy of the file, like in a mapped file. */
    static BatchChunk open(BatchBuilder builder, PackedChunk packed, List<String> versionClasses) throws IOException {
        ByteBuffer bytes = ChunkFixtures.bytes(packed);
        ByteBuffer file =
                ByteBuffer.allocateDirect(bytes.remaining()).put(bytes).flip();
        ChunkHead head = ChunkReader.open(
                new BufferRangeReader("chunk " + packed.summary().id(), file));
        Map<String, Integer> ids = new HashMap<>();
        for (String name : versionClasses) {
            ids.put(name, ids.size());
        }
        int[][] classIds = new int[head.fields().size()][];
        for (int f = 0; f < classIds.length; f++) {
            if (head.fields().get(f).type() == ScalarType.CATEGORICAL) {
                classIds[f] = BatchChunk.idsOf(head.classes(f), ids);
            }
        }
        return builder.chunk(head, file, 0, classIds);
    }

    /** The message's bytes; the scratch is filled with ones before, and begins at an odd position. */
    static byte[] bytes(BatchMessage message) {
        ByteBuffer bytes = ByteBuffer.allocate(message.length());
        message.writeTo(bytes);
        return bytes.array();
    }

    static ByteBuffer scratch(int size) {
        ByteBuffer scratch = ByteBuffer.allocateDirect(size + 77);
        while (scratch.hasRemaining()) {
            scratch.put((byte) 0xFF);
        }
        return scratch.position(61);
    }
}

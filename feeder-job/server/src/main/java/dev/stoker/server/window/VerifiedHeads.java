package dev.stoker.server.window;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.OverlayReader;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.server.chunks.ListedChunk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Objects;

/** Reads and checks heads of chunks. Stateless; any thread. */
public final class VerifiedHeads {
    private VerifiedHeads() {}

    /**
     * Reads a head and nothing else of a far chunk. A second read repairs what went wrong on the way.
     *
     * @param chunk index in the chunks of the stream
     * @throws CorruptDataException if the head is damaged
     */
    public static ChunkHead readAlone(ServedStream stream, int chunk, ListedChunk file) throws IOException {
        try {
            return readOnce(stream, chunk, file, stream.source()::readPart);
        } catch (CorruptDataException first) {
            return readOnce(stream, chunk, file, stream.source()::readPart);
        }
    }

    /**
     * Reads a head. A second read repairs what went wrong on the way.
     *
     * @param chunk index in the chunks of the stream
     * @throws CorruptDataException if the head is damaged
     */
    public static ChunkHead read(ServedStream stream, int chunk, ListedChunk file) throws IOException {
        try {
            return readOnce(stream, chunk, file, stream.source()::read);
        } catch (CorruptDataException first) {
            return readOnce(stream, chunk, file, stream.source()::read);
        }
    }

    /** Reads bytes of a chunk. */
    private interface Read {
        void read(ListedChunk chunk, long offset, ByteBuffer target) throws IOException;
    }

    private static ChunkHead readOnce(ServedStream stream, int chunk, ListedChunk file, Read bytes) throws IOException {
        StreamChunks chunks = stream.chunks();
        ByteBuffer head = ByteBuffer.allocate(chunks.headLength(chunk)).order(ByteOrder.LITTLE_ENDIAN);
        bytes.read(file, 0, head);
        head.flip();
        int found = Crc32cs.of(head);
        if (found != chunks.headCrc32c(chunk)) {
            throw CorruptDataException.mismatch(
                    file.name(), "head CRC32C", Crc32cs.hex(chunks.headCrc32c(chunk)), Crc32cs.hex(found));
        }
        ChunkHead parsed = ChunkHead.parse(head, chunks.length(chunk), file.name());
        if (!parsed.identity().chunk().equals(chunks.id(chunk))
                || !parsed.identity().dataset().equals(stream.dataset())
                || parsed.rows() != chunks.rows(chunk)
                || !chunks.added()
                        .without(parsed.fields())
                        .equals(chunks.added().without(stream.fields()))) {
            throw CorruptDataException.mismatch(
                    file.name(),
                    "identity",
                    "chunk " + chunks.id(chunk) + " of dataset " + stream.dataset() + " with " + chunks.rows(chunk)
                            + " rows",
                    "chunk " + parsed.identity().chunk() + " of dataset "
                            + parsed.identity().dataset() + " with " + parsed.rows() + " rows");
        }
        return OverlayReader.apply(parsed, chunks.overlay(chunk), chunks.added(), id -> overlay(stream, chunk))
                .select(stream.fields());
    }

    private static RangeReader overlay(ServedStream stream, int chunk) {
        ListedChunk file = Objects.requireNonNull(stream.overlay(chunk), "the chunk has an overlay");
        return new WindowReader(stream.source(), file);
    }

    /** Returns the version's class ids of the chunk's classes, for each categorical field; null for other fields. */
    public static int[][] classIds(ServedStream stream, ChunkHead head) throws CorruptDataException {
        List<Field> fields = stream.fields();
        int[][] ids = new int[fields.size()][];
        for (int f = 0; f < ids.length; f++) {
            Field field = fields.get(f);
            if (field.type() != ScalarType.CATEGORICAL) {
                continue;
            }
            List<String> local = head.classes(f);
            ids[f] = new int[local.size()];
            for (int i = 0; i < ids[f].length; i++) {
                String name = local.get(i);
                ids[f][i] = stream.classes()
                        .id(field.name(), name)
                        .orElseThrow(() -> CorruptDataException.mismatch(
                                head.file(), "class of field " + field.name(), "one of the version's", name));
            }
        }
        return ids;
    }
}

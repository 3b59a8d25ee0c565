package dev.stoker.metadata.compaction;

import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.OverlayReader;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A chunk's file in memory, with its head verified. Immutable; any thread may use it as long as its memory is not
 * reused.
 */
final class LoadedChunk {

    private final ReplacedChunk source;
    private final ChunkHead head;
    private final BufferRangeReader file;
    private final ByteBuffer bytes;
    private final int[] rows;

    private LoadedChunk(ReplacedChunk source, ChunkHead head, BufferRangeReader file, ByteBuffer bytes, int[] rows) {
        this.source = source;
        this.head = head;
        this.file = file;
        this.bytes = bytes;
        this.rows = rows;
    }

    /**
     * Reads a chunk with one request.
     *
     * @param removed rows to leave out, ascending
     * @param place memory of exactly the file's length
     * @throws CompactionFailedException if the chunk is missing or damaged
     */
    static LoadedChunk read(ObjectStore store, ReplacedChunk source, int[] removed, ByteBuffer place)
            throws IOException {
        String name = ChunkNames.path(source.summary().id());
        try {
            store.read(name, 0, place.duplicate());
            BufferRangeReader file = new BufferRangeReader(store.describe(name), place);
            ChunkHead head = OverlayReader.readHead(file, source.summary(), ChunkHeads.overlays(store));
            return new LoadedChunk(source, head, file, place, liveRows(head.rows(), removed));
        } catch (CorruptDataException | ForeignFileException | NoSuchObjectException e) {
            throw CompactionFailedException.damaged(source.ordinal(), e);
        }
    }

    private static int[] liveRows(int count, int[] removed) {
        int[] rows = new int[count - removed.length];
        int n = 0;
        for (int row = 0; row < count; row++) {
            if (Arrays.binarySearch(removed, row) < 0) {
                rows[n++] = row;
            }
        }
        return rows;
    }

    ChunkHead head() {
        return head;
    }

    /** The chunk's rows that are in the version. */
    int[] rows() {
        return rows;
    }

    /**
     * Returns the verified bytes of a payload value.
     *
     * @throws CompactionFailedException if the value is damaged; names chunk, row and key
     */
    ByteBuffer payload(int field, int row) throws IOException {
        ByteBuffer value = bytes.slice(head.payloadPosition(field, row), head.payloadLength(field, row));
        if (Crc32cs.of(value) != head.payloadCrc32c(field, row)) {
            try {
                ChunkReader.verifySample(head, file, row);
            } catch (CorruptDataException e) {
                throw CompactionFailedException.damaged(source.ordinal(), e);
            }
            throw new IOException("Chunk " + source.ordinal() + " changed in memory while it was compacted;"
                    + " check the memory of this machine");
        }
        return value;
    }
}

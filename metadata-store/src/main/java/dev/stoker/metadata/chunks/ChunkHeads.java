package dev.stoker.metadata.chunks;

import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.OverlayReader;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Reads and verifies the heads of a dataset's chunks. */
public final class ChunkHeads {

    private ChunkHeads() {}

    /** Returns the head of a chunk with the fields and values of a version. */
    public static ChunkHead read(ObjectStore store, ChunkTable table, int index) throws IOException {
        return read(store, table.summary(index));
    }

    /** Returns the head of a chunk that has been written, with the fields and values of its version. */
    public static ChunkHead read(ObjectStore store, ChunkSummary chunk) throws IOException {
        return OverlayReader.readHead(new StoredFile(store, ChunkNames.path(chunk.id())), chunk, overlays(store));
    }

    /** Returns the head of a chunk with the fields and values in its own file. It suffices for the keys. */
    public static ChunkHead readStored(ObjectStore store, ChunkTable table, int index) throws IOException {
        return read(store, table.summary(index).withoutOverlay());
    }

    /** Returns the head that {@link #readStored} has returned, with the fields and values of the version. */
    public static ChunkHead current(ObjectStore store, ChunkTable table, int index, ChunkHead stored)
            throws IOException {
        ChunkSummary chunk = table.summary(index);
        return OverlayReader.apply(stored, chunk.overlay(), chunk.added(), overlays(store));
    }

    /** Returns the overlays of a dataset. */
    public static OverlayReader.Files overlays(ObjectStore store) {
        return id -> new StoredFile(store, ChunkNames.overlayPath(id));
    }

    /** Whether the row was removed from the version. */
    public static boolean isRemoved(ChunkTable table, int index, int row) {
        return Arrays.binarySearch(table.removedRows(index), row) >= 0;
    }

    /** An object, readable as a file of the formats. */
    private record StoredFile(ObjectStore store, String object) implements RangeReader {

        @Override
        public void readFully(long offset, ByteBuffer target) throws IOException {
            store.read(object, offset, target);
        }

        @Override
        public long length() throws IOException {
            return store.length(object);
        }

        @Override
        public String name() {
            return store.describe(object);
        }
    }
}

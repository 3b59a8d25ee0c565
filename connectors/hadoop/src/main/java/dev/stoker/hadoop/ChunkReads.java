package dev.stoker.hadoop;

import dev.stoker.metadata.samples.CheckedPayload;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.cache.BoundedCache;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reads values of one payload field, and keeps all values of the chunks from which several samples are read. Chunks on
 * this machine are not kept: the page cache has them. Thread-safe.
 *
 * <p>The first read of a chunk is a read of one value. A read of the next row, or the fourth read of a chunk, reads all
 * values of the chunk at once, unless the cache would have evicted them since the first read.
 * So files in the order of their storage cost two reads a chunk, and files in any other order cost at most a few times
 * their own bytes.
 */
final class ChunkReads {

    /** About as many reads of single values take as long as a read of a chunk of 8 MiB: requests take 20 ms, say. */
    private static final int READS_BEFORE_CHUNK = 4;

    private static final int LOCKS = 64;

    private final ObjectStore store;
    private final ChunkTable table;
    private final int field;
    private final long capacityBytes;

    /** The values of chunks by the chunks' index. */
    private final BoundedCache<Integer, ByteBuffer> kept;

    /** Reads of single values from chunks that are not kept. */
    private final BoundedCache<Integer, Use> recent;

    /** Locks of the reads of whole chunks, by their index modulo the number of locks. */
    private final Object[] locks = new Object[LOCKS];

    private record Use(int row, int reads) {}

    ChunkReads(ObjectStore store, ChunkTable table, int field, long capacityBytes) {
        this.store = store;
        this.table = table;
        this.field = field;
        this.capacityBytes = capacityBytes;
        this.kept = new BoundedCache<>(capacityBytes, BoundedCache.Large.NOT_KEPT);
        this.recent = new BoundedCache<>(capacityBytes, BoundedCache.Large.KEPT_ALONE);
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new Object();
        }
    }

    /** Returns the value of a row, for its verification. */
    CheckedPayload value(int chunk, ChunkHead head, int row) {
        return new CheckedPayload(head, field, row, "chunk " + table.ordinal(chunk));
    }

    /** Returns the verified value of a row. It must not be changed. */
    ByteBuffer read(int chunk, CheckedPayload value) throws IOException {
        ByteBuffer values = values(chunk, value);
        if (values != null) {
            int begin = value.position() - value.head().column(field).valuesPosition();
            ByteBuffer known = values.slice(begin, value.length());
            if (value.is(known)) {
                return known;
            }
            kept.remove(chunk);
        }
        ByteBuffer bytes = ByteBuffer.allocate(value.length());
        value.read(bytes, (position, target) -> readPart(chunk, position, target), () -> {});
        return bytes;
    }

    /** Reads bytes of a chunk's file without a check. */
    void readPart(int chunk, long position, ByteBuffer target) throws IOException {
        if (target.hasRemaining()) {
            store.read(ChunkNames.path(table.id(chunk)), position, target);
        }
    }

    /** Returns all values of a chunk; null if only the value should be read. */
    private @Nullable ByteBuffer values(int chunk, CheckedPayload value) throws IOException {
        ArrowColumn column = value.head().column(field);
        boolean isSmall = column.valuesLength() <= capacityBytes && value.length() * 2L < column.valuesLength();
        if (!isSmall || store.localPath(ChunkNames.path(table.id(chunk))).isPresent()) {
            return null;
        }
        ByteBuffer known = kept.get(chunk);
        if (known != null || !isWorthAll(chunk, value.row())) {
            return known;
        }
        synchronized (locks[chunk % LOCKS]) {
            return kept.get(chunk, column.valuesLength(), () -> {
                ByteBuffer all = ByteBuffer.allocate(column.valuesLength());
                readPart(chunk, column.valuesPosition(), all);
                return all.flip();
            });
        }
    }

    /** Notes a read, and returns whether it should read the whole chunk. */
    private boolean isWorthAll(int chunk, int row) {
        synchronized (recent) {
            Use last = recent.remove(chunk);
            if (last != null && (row == last.row() + 1 || last.reads() + 1 >= READS_BEFORE_CHUNK)) {
                return true;
            }
            recent.put(chunk, new Use(row, last == null ? 1 : last.reads() + 1), table.length(chunk));
            return false;
        }
    }
}

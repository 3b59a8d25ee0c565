package dev.stoker.hadoop;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
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

    /** The values of chunks by the chunks' index, the ones used last at the end. The map is the lock of the cache. */
    private final Map<Integer, ByteBuffer> kept = new LinkedHashMap<>(16, 0.75f, true);

    private long keptBytes;

    /** Reads of single values from chunks that are not kept, the last one at the end. Guarded by {@link #kept}. */
    private final Map<Integer, Use> recent = new LinkedHashMap<>();

    private long recentBytes;

    /** Locks of the reads of whole chunks, by their index modulo the number of locks. */
    private final Object[] locks = new Object[LOCKS];

    private record Use(int row, int reads) {}

    ChunkReads(ObjectStore store, ChunkTable table, int field, long capacityBytes) {
        this.store = store;
        this.table = table;
        this.field = field;
        this.capacityBytes = capacityBytes;
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new Object();
        }
    }

    /** Returns the verified value of a row. It must not be changed. */
    ByteBuffer read(int chunk, ChunkHead head, int row) throws IOException {
        ByteBuffer values = values(chunk, head, row);
        if (values != null) {
            ByteBuffer value = values.slice(
                    head.payloadPosition(field, row) - head.column(field).valuesPosition(),
                    head.payloadLength(field, row));
            if (Crc32cs.of(value) == head.payloadCrc32c(field, row)) {
                return value;
            }
            // Bytes can be damaged on their way. The second read decides.
            forget(chunk);
        }
        ByteBuffer value = readPart(chunk, head.payloadPosition(field, row), head.payloadLength(field, row));
        int crc = Crc32cs.of(value);
        if (crc != head.payloadCrc32c(field, row)) {
            throw mismatch(chunk, head, row, head.payloadCrc32c(field, row), crc);
        }
        return value;
    }

    /** Reads bytes of a chunk's file without a check. */
    ByteBuffer readPart(int chunk, long position, int length) throws IOException {
        ByteBuffer part = ByteBuffer.allocate(length);
        if (length > 0) {
            store.read(ChunkNames.path(table.id(chunk)), position, part);
        }
        return part.flip();
    }

    /** Returns the error for a value that does not have its checksum. */
    CorruptDataException mismatch(int chunk, ChunkHead head, int row, int expected, int found) {
        return CorruptDataException.mismatch(
                store.describe(ChunkNames.path(table.id(chunk))),
                "CRC32C of " + head.fields().get(field).name() + " of sample '" + head.key(row) + "' in row " + row
                        + " of chunk " + table.ordinal(chunk),
                Crc32cs.hex(expected),
                Crc32cs.hex(found));
    }

    /** Returns all values of a chunk; null if only the value of the row should be read. */
    private @Nullable ByteBuffer values(int chunk, ChunkHead head, int row) throws IOException {
        ArrowColumn column = head.column(field);
        boolean isSmall =
                column.valuesLength() <= capacityBytes && head.payloadLength(field, row) * 2L < column.valuesLength();
        if (!isSmall || store.localPath(ChunkNames.path(table.id(chunk))).isPresent()) {
            return null;
        }
        synchronized (kept) {
            ByteBuffer known = kept.get(chunk);
            if (known != null || !isWorthAll(chunk, row)) {
                return known;
            }
        }
        synchronized (locks[chunk % LOCKS]) {
            synchronized (kept) {
                ByteBuffer known = kept.get(chunk);
                if (known != null) {
                    return known;
                }
            }
            ByteBuffer all = readPart(chunk, column.valuesPosition(), column.valuesLength());
            keep(chunk, all);
            return all;
        }
    }

    /** Notes a read, and returns whether it should read the whole chunk. */
    private boolean isWorthAll(int chunk, int row) {
        Use last = recent.remove(chunk);
        if (last == null) {
            recentBytes += table.length(chunk);
        } else if (row == last.row() + 1 || last.reads() + 1 >= READS_BEFORE_CHUNK) {
            recentBytes -= table.length(chunk);
            return true;
        }
        recent.put(chunk, new Use(row, last == null ? 1 : last.reads() + 1));
        Iterator<Integer> oldest = recent.keySet().iterator();
        while (recentBytes > capacityBytes && recent.size() > 1) {
            recentBytes -= table.length(oldest.next());
            oldest.remove();
        }
        return false;
    }

    private void keep(int chunk, ByteBuffer values) {
        synchronized (kept) {
            kept.put(chunk, values);
            keptBytes += values.capacity();
            Iterator<ByteBuffer> oldest = kept.values().iterator();
            while (keptBytes > capacityBytes) {
                keptBytes -= oldest.next().capacity();
                oldest.remove();
            }
        }
    }

    private void forget(int chunk) {
        synchronized (kept) {
            ByteBuffer values = kept.remove(chunk);
            keptBytes -= values == null ? 0 : values.capacity();
        }
    }
}

package dev.stoker.cli.browse;

import dev.stoker.metadata.files.ContentField;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.cache.BoundedCache;
import dev.stoker.schemas.chunk.ChunkHead;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/** Reads and verifies the bytes of values, a few at a time, and keeps the last ones. Thread-safe. */
final class Values {

    /** The longest value that the page shows without being asked again. */
    static final int LARGE_BYTES = 8 << 20;

    /** The longest value that the page shows at all. */
    static final int MOST_BYTES = 256 << 20;

    private static final int READS = 4;
    private static final long CACHE_BYTES = 128L << 20;

    private final BoundedCache<Key, byte[]> cache = new BoundedCache<>(
            Math.min(CACHE_BYTES, Runtime.getRuntime().maxMemory() / 8), BoundedCache.Large.NOT_KEPT);
    /** Bounds the memory of values that are being read. */
    private final Semaphore reads = new Semaphore(READS);

    /** The place of a value. */
    private record Key(long version, RowAddress place, int field) {}

    /** Returns the field that the page shows first: payload, or else bytes, or else text; -1 if there is none. */
    static int shown(List<Field> fields) {
        int best = -1;
        int bestRank = Integer.MAX_VALUE;
        for (int f = 0; f < fields.size(); f++) {
            Field field = fields.get(f);
            int rank = field.payload() ? 0 : field.type() == ScalarType.BINARY ? 1 : 2;
            if (ContentField.hasBytes(field) && rank < bestRank) {
                best = f;
                bestRank = rank;
            }
        }
        return best;
    }

    /** Returns the length of a value in bytes. */
    static int length(ChunkHead head, int field, int row) {
        return head.column(field).valueLength(row);
    }

    /** Returns a value that was read before; empty if it was not, or is no longer kept. */
    Optional<byte[]> known(BrowsedVersion version, RowAddress place, int field) {
        return Optional.ofNullable(cache.get(new Key(version.snapshot().version(), place, field)));
    }

    /**
     * Returns a value.
     *
     * @throws dev.stoker.schemas.errors.CorruptDataException if it is damaged
     */
    byte[] read(BrowsedVersion version, RowAddress place, int field) throws IOException {
        Optional<byte[]> known = known(version, place, field);
        return known.isPresent()
                ? known.get()
                : readTogether(version, place.chunk(), new int[] {place.row()}, field)
                        .get(0);
    }

    /** Returns the values of some rows of a chunk. */
    List<byte[]> readTogether(BrowsedVersion version, int chunk, int[] rows, int field) throws IOException {
        if (!version.fields().get(field).payload()) {
            ChunkHead head = version.samples().head(chunk);
            return Arrays.stream(rows)
                    .mapToObj(row -> copy(head.column(field).bytesAt(row)))
                    .toList();
        }
        List<byte[]> values;
        try {
            reads.acquire();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted before a read");
        }
        try {
            values = version.samples().values(chunk, field, rows).stream()
                    .map(Values::copy)
                    .toList();
        } finally {
            reads.release();
        }
        for (int i = 0; i < rows.length; i++) {
            cache.put(
                    new Key(version.snapshot().version(), new RowAddress(chunk, rows[i]), field),
                    values.get(i),
                    values.get(i).length);
        }
        return values;
    }

    private static byte[] copy(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        return copy;
    }
}

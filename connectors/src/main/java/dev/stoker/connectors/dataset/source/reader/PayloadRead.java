package dev.stoker.connectors.dataset.source.reader;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads and verifies the payload values of some rows, neighbouring ones with one request. Stateless. */
final class PayloadRead {

    /** A gap that takes less time to read than another request. */
    private static final long GAP = 256 << 10;

    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private PayloadRead() {}

    /**
     * Returns the bytes by row; null for unwanted rows.
     *
     * @param rows the wanted rows, ascending
     * @param name of the field, for messages
     */
    static ByteBuffer[] read(RangeReader file, VerifiedColumns.Places places, int[] rows, String name)
            throws IOException {
        ByteBuffer[] values = new ByteBuffer[places.values().rows()];
        for (int from = 0; from < rows.length; ) {
            int to = from + 1;
            while (to < rows.length && places.position(rows[to]) - end(places, rows[to - 1]) <= GAP) {
                to++;
            }
            long start = places.position(rows[from]);
            ByteBuffer run = ByteBuffer.allocate((int) (end(places, rows[to - 1]) - start));
            if (run.hasRemaining()) {
                file.readFully(start, run);
            }
            for (int i = from; i < to; i++) {
                int row = rows[i];
                ByteBuffer value = places.values().isNull(row)
                        ? EMPTY
                        : run.slice(
                                (int) (places.position(row) - start),
                                places.values().valueLength(row));
                values[row] = checked(value, places, row, name, file);
            }
            from = to;
        }
        return values;
    }

    private static long end(VerifiedColumns.Places places, int row) {
        return places.position(row) + places.values().valueLength(row);
    }

    private static ByteBuffer checked(
            ByteBuffer value, VerifiedColumns.Places places, int row, String name, RangeReader file)
            throws CorruptDataException {
        if (!places.values().isNull(row)) {
            int found = Crc32cs.of(value);
            if (found != places.crc32c(row)) {
                throw CorruptDataException.mismatch(
                        file.name(),
                        "CRC32C of " + name + " in row " + row,
                        Crc32cs.hex(places.crc32c(row)),
                        Crc32cs.hex(found));
            }
        }
        return value;
    }
}

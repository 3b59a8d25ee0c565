package dev.stoker.schemas.index;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.table.ChunkTable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * Identifies a run: the chunks whose samples it contains.
 *
 * @param dataset the dataset's id
 * @param first first version of the range, at least 1
 * @param last last version of the range
 * @param chunks checksum of ordinals and ids of the chunks that these versions added
 */
public record RunIdentity(UUID dataset, long first, long last, int chunks) {

    private static final int CHUNK_BYTES = 24;

    public RunIdentity {
        Objects.requireNonNull(dataset, "dataset");
        if (first < 1 || last < first) {
            throw new IllegalArgumentException("versions " + first + " to " + last);
        }
    }

    /**
     * Returns the identity of the run of a range of versions.
     *
     * @param table chunk table of the last version, or of a later one
     */
    public static RunIdentity of(ChunkTable table, long first, long last) {
        CRC32C crc = new CRC32C();
        ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES).order(ByteOrder.BIG_ENDIAN);
        for (int i = 0; i < table.size(); i++) {
            if (table.addedIn(i) >= first && table.addedIn(i) <= last) {
                UUID id = table.id(i);
                chunk.clear();
                chunk.putLong(table.ordinal(i))
                        .putLong(id.getMostSignificantBits())
                        .putLong(id.getLeastSignificantBits());
                crc.update(chunk.flip());
            }
        }
        return new RunIdentity(table.dataset(), first, last, (int) crc.getValue());
    }

    @Override
    public String toString() {
        return "versions " + first + " to " + last + " of dataset " + dataset + " with the chunks "
                + Crc32cs.hex(chunks);
    }
}

package dev.stoker.schemas.index;

/**
 * The place of a sample, and what {@code stat} reports.
 *
 * @param ordinal ordinal of the chunk
 * @param row row in the chunk
 * @param length bytes of the values of all fields
 * @param crc32c checksum of the payload values
 */
public record IndexedRow(int ordinal, int row, int length, int crc32c) {
    public IndexedRow {
        if (ordinal < 0 || row < 0 || length < 0) {
            throw new IllegalArgumentException("row " + row + " of chunk " + ordinal + " with " + length + " bytes");
        }
    }
}

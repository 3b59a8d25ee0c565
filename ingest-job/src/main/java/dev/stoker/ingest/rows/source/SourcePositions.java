package dev.stoker.ingest.rows.source;

import dev.stoker.ingest.rows.RowInspection;

/** The place of a row in the source in one number: later rows have greater ones. */
public final class SourcePositions {
    /** Enough for {@link RowInspection#MOST_FILES} files. The rest is for positions: 16 TiB. */
    private static final int FILE_BITS = 20;

    private static final int POSITION_BITS = Long.SIZE - FILE_BITS;

    private SourcePositions() {}

    /**
     * Returns the place of a row.
     *
     * @param file number of the file in the source
     * @param position of the row in the file
     */
    public static long place(int file, long position) {
        if (file >>> FILE_BITS != 0 || position >>> POSITION_BITS != 0) {
            throw new IllegalArgumentException("position " + position + " of file " + file
                    + " of the source is too large; divide the source into smaller files");
        }
        return (long) file << POSITION_BITS | position;
    }

    public static int file(long place) {
        return (int) (place >>> POSITION_BITS);
    }

    public static long position(long place) {
        return place & (1L << POSITION_BITS) - 1;
    }
}

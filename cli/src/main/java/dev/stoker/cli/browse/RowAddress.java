package dev.stoker.cli.browse;

import dev.stoker.schemas.table.ChunkTable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The place of a sample in a version.
 *
 * @param chunk index in the version's chunk table
 * @param row row of the chunk
 */
public record RowAddress(int chunk, int row) {

    private static final Pattern TEXT = Pattern.compile("([0-9]{1,18})\\.([0-9]{1,9})");

    /** Returns the place of a sample of the version. */
    public static RowAddress of(ChunkTable table, long ordinal, long row) {
        int chunk = table.indexOf(ordinal);
        if (chunk < 0 || row > Integer.MAX_VALUE || !table.isLive(chunk, (int) row)) {
            throw new IllegalArgumentException(
                    "version " + table.version() + " has no sample in row " + row + " of chunk " + ordinal);
        }
        return new RowAddress(chunk, (int) row);
    }

    /** Parses the form {@code chunk.row} with the ordinal of the chunk. */
    public static RowAddress parse(ChunkTable table, String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("expected a place such as 17.3");
        }
        return of(table, Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)));
    }

    public String text(ChunkTable table) {
        return table.ordinal(chunk) + "." + row;
    }
}

package dev.stoker.formats.parquet.page;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Known defects of old writers, which a file names in {@code created_by}.
 *
 * @param flagsCompressedPages whether compressed data pages of version 2 say that they are not compressed (ARROW-17100)
 * @param omitsDictionaryHeader whether the size of a column chunk lacks the header of its dictionary page (PARQUET-816)
 */
public record WriterDefects(boolean flagsCompressedPages, boolean omitsDictionaryHeader) {
    public static final WriterDefects NONE = new WriterDefects(false, false);

    /** The longest header of a dictionary page that a writer with {@link #omitsDictionaryHeader} wrote. */
    public static final int MAX_DICTIONARY_HEADER = 100;

    private static final Pattern WRITER =
            Pattern.compile("(\\S+)\\s+version\\s+(\\d{1,6})\\.(\\d{1,6})\\.(\\d{1,6})\\b.*", Pattern.DOTALL);

    public static WriterDefects of(@Nullable String createdBy) {
        String text = createdBy == null ? "" : createdBy;
        Matcher writer = WRITER.matcher(text);
        if (!writer.matches()) {
            // The first releases of parquet-mr wrote no version.
            return text.strip().equals("parquet-mr") ? new WriterDefects(false, true) : NONE;
        }
        return switch (writer.group(1)) {
            case "parquet-cpp", "parquet-cpp-arrow" -> new WriterDefects(isBefore(writer, 3, 0, 0), false);
            case "parquet-mr" -> new WriterDefects(false, isBefore(writer, 1, 2, 9));
            default -> NONE;
        };
    }

    private static boolean isBefore(Matcher writer, int... version) {
        for (int i = 0; i < version.length; i++) {
            int found = Integer.parseInt(writer.group(2 + i));
            if (found != version[i]) {
                return found < version[i];
            }
        }
        return false;
    }
}

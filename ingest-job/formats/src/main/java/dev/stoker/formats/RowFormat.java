package dev.stoker.formats;

import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;

/** Opens the files of one format. Stateless and thread-safe. */
public interface RowFormat {
    /** Returns the name of the format, as in {@code --format}: lower-case letters and digits. */
    String name();

    /** Returns whether a file has this format. The content decides; the name counts only if the content allows both. */
    boolean recognises(FileHead file);

    /**
     * Opens a file and reads what describes its rows, such as a footer or header. The caller keeps the reader open
     * until it has closed the result.
     *
     * @param limits bounds for the sizes that a file may declare
     * @throws DamagedFileException if the file is damaged, for example truncated; names the file
     * @throws UnsupportedFileException if it uses something that Stoker does not read, for example encryption; names it
     * @throws IOException if the file cannot be read now
     */
    RowFile open(RangeReader file, ReadLimits limits) throws IOException;
}

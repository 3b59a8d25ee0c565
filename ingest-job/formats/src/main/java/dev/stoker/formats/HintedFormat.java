package dev.stoker.formats;

import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;

/** A format that does not describe its columns: {@link #open} infers them from the first rows. */
public interface HintedFormat extends RowFormat {
    /**
     * Opens a file as {@link RowFormat#open(RangeReader, ReadLimits)} does.
     *
     * @param hints names and types of its columns, if the user or an earlier file gave them
     */
    RowFile open(RangeReader file, ReadLimits limits, ColumnHints hints) throws IOException;

    @Override
    default RowFile open(RangeReader file, ReadLimits limits) throws IOException {
        return open(file, limits, ColumnHints.NONE);
    }
}

package dev.stoker.formats.filter;

import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.schemas.condition.RowPredicate;
import java.io.IOException;

/** A file that knows something about the values of a part without reading it. */
public interface StatisticsFile extends RowFile {
    /**
     * Returns whether the part may have a row for which the predicate is true. False is certain; true is not.
     *
     * @param predicate with names of columns of this file; others are taken as unknown
     */
    boolean mayMatch(RowPart part, RowPredicate predicate) throws IOException;
}

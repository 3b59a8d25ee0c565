package dev.stoker.metadata.commit;

import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.log.RemovedRows;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Determines the rows that a commit removes. Called again for every version on which the commit is tried. */
public interface Removal {

    /** Removes nothing. */
    Removal NOTHING = base -> List.of();

    /** Removes all chunks. */
    Removal EVERYTHING = base -> {
        List<RemovedRows> all = new ArrayList<>();
        for (int i = 0; i < base.table().size(); i++) {
            if (base.table().isLive(i)) {
                all.add(RemovedRows.wholeChunk(base.table().ordinal(i)));
            }
        }
        return all;
    };

    /** Returns the rows to remove from this version, in ascending ordinal. */
    List<RemovedRows> from(Snapshot base) throws IOException;
}

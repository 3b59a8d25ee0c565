package dev.stoker.metadata.commit;

import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.log.UpdatedChunk;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Determines the chunks that get overlays by a commit. Called again for every version that the commit is tried on. */
@FunctionalInterface
public interface Update {

    /** Updates nothing. */
    Update NOTHING = base -> new Changes(List.of(), Map.of(), AddedFields.NONE);

    /**
     * What a commit updates.
     *
     * @param chunks the chunks with their new overlays, whose files are durable, in ascending ordinal
     * @param classes for each categorical field, the class names that the overlays use
     * @param added fields of the overlays that the version before does not have
     */
    record Changes(List<UpdatedChunk> chunks, Map<String, List<String>> classes, AddedFields added) {

        /** Changes that add no field. */
        public Changes(List<UpdatedChunk> chunks, Map<String, List<String>> classes) {
            this(chunks, classes, AddedFields.NONE);
        }
    }

    /** Returns the changes of this version. */
    Changes from(Snapshot base) throws IOException;
}

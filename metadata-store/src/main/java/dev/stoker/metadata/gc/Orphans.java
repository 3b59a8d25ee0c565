package dev.stoker.metadata.gc;

import dev.stoker.metadata.Dataset;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;

/**
 * Finds and deletes the files of a dataset that no version contains: chunks, overlays, lists of left-out samples,
 * superseded runs of its sample index, and temporary files. A chunk that any version ever contained is not an orphan,
 * even if it was removed. Running writers also have such files; {@link GarbageCollection} distinguishes them.
 */
public final class Orphans {

    private Orphans() {}

    /** Finds all orphans, in no particular order. Omits files without names of Stoker's files. */
    public static List<Orphan> find(Dataset dataset, InstantSource clock) throws IOException {
        StoreListing listing = StoreListing.read(dataset, StoredKind.OF_WRITERS);
        return listing.by(Marks.read(dataset), clock).getOrDefault(Marks.Standing.OF_NO_VERSION, List.of());
    }

    /**
     * Deletes orphans, except those that were committed after they were found.
     *
     * @return the deleted files
     */
    public static List<Orphan> delete(Dataset dataset, Collection<Orphan> orphans) throws IOException {
        return Marks.read(dataset).sweep(orphans, Marks.Standing.OF_NO_VERSION);
    }
}

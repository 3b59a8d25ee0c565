package dev.stoker.metadata.gc;

import dev.stoker.schemas.dataset.Lease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Describes the files of one ingest that no version contains, or a lease without such files, or one file whose ingest
 * is unknown.
 *
 * @param ingest id of the ingest; empty if unknown
 * @param lease lease of the ingest, if it has one
 * @param files files that no version contains
 * @param age age of the youngest file; without files, the age of the lease
 * @param fate the action of a collection on the files
 */
public record Leftover(String ingest, Optional<Lease> lease, List<Orphan> files, Duration age, Fate fate) {

    /** Lists the actions of a collection on the files. */
    public enum Fate {
        /** The files are deleted. */
        DELETE,
        /** The files stay, because the ingest has a lease. */
        LEASED,
        /** The files stay, because their ingest is unknown and writers are running. */
        BESIDE_WRITERS,
        /** The files stay, because they are too young. */
        YOUNG
    }

    public Leftover {
        files = List.copyOf(files);
    }

    /** Returns the size of the files in bytes. */
    public long bytes() {
        return files.stream().mapToLong(Orphan::length).sum();
    }
}

package dev.stoker.metadata;

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

    /** What a collection does with the files. */
    public enum Fate {
        /** They are deleted. */
        DELETE,
        /** They stay: the ingest has a lease. */
        LEASED,
        /** They stay: nobody knows whose they are, and writers are at work. */
        BESIDE_WRITERS,
        /** They stay: they are too young. */
        YOUNG
    }

    public Leftover {
        files = List.copyOf(files);
    }

    /** Bytes of the files. */
    public long bytes() {
        return files.stream().mapToLong(Orphan::length).sum();
    }
}

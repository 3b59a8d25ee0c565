package dev.stoker.metadata;

import dev.stoker.schemas.dataset.Lease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Files of one ingest that no version knows, or a lease without any; or one file of which nobody knows whose it is.
 *
 * @param ingest id of the ingest; empty if it is not known
 * @param lease of the ingest, if it has one
 * @param files that no version knows
 * @param age of the youngest file; of the lease if there is none
 * @param fate what a collection does with the files
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

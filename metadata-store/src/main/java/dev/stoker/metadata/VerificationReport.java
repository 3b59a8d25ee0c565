package dev.stoker.metadata;

import java.util.List;

/**
 * What a verification found.
 *
 * @param version the version whose chunks were read
 * @param chunks how many were read
 * @param samples how many samples these have, removed ones included
 * @param bytes how many bytes were read of them
 * @param problems by chunk and row; those of no chunk first
 */
public record VerificationReport(long version, int chunks, long samples, long bytes, List<Problem> problems) {
    public VerificationReport {
        problems = List.copyOf(problems);
    }

    /** Whether all is as it was written. */
    public boolean isClean() {
        return problems.isEmpty();
    }
}

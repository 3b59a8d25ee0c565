package dev.stoker.metadata.verify;

import java.util.List;

/**
 * Contains the results of a verification.
 *
 * @param version the version whose chunks were read
 * @param chunks number of chunks read
 * @param samples number of samples of the version; the removed rows of its chunks are verified, too
 * @param bytes number of bytes read from them
 * @param problems problems by chunk and row; problems that concern no chunk come first
 */
public record VerificationReport(long version, int chunks, long samples, long bytes, List<Problem> problems) {
    public VerificationReport {
        problems = List.copyOf(problems);
    }

    /** Returns whether no problem was found. */
    public boolean isClean() {
        return problems.isEmpty();
    }
}

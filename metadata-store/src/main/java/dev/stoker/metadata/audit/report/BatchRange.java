package dev.stoker.metadata.audit.report;

import java.io.Serializable;

/**
 * Identifies consecutive batches of an epoch.
 *
 * @param first the first number
 * @param last the last number
 */
public record BatchRange(long first, long last) implements Serializable {
    private static final long serialVersionUID = 1;

    public BatchRange {
        if (first < 0 || last < first) {
            throw new IllegalArgumentException("Batches " + first + " to " + last);
        }
    }

    public long count() {
        return last - first + 1;
    }

    @Override
    public String toString() {
        return first == last ? Long.toString(first) : first + " to " + last;
    }
}

package dev.stoker.metadata.audit.report;

import java.io.Serializable;
import java.util.List;

/**
 * Identifies a set of batches of an epoch.
 *
 * @param count number of batches
 * @param ranges ranges of batches, at most the first thousand
 */
public record EpochBatches(long count, List<BatchRange> ranges) implements Serializable {
    private static final long serialVersionUID = 1;

    public EpochBatches {
        ranges = List.copyOf(ranges);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (BatchRange range : ranges.subList(0, Math.min(ranges.size(), 5))) {
            text.append(text.isEmpty() ? "" : ", ").append(range);
        }
        return ranges.size() > 5 ? text + ", …" : text.toString();
    }
}

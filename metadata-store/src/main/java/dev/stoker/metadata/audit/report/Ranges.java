package dev.stoker.metadata.audit.report;

import java.util.ArrayList;
import java.util.List;

/** Collects ascending numbers as ranges. Keeps the first ranges and the count of all numbers. */
public final class Ranges {

    private static final int KEPT = 1000;

    private final List<BatchRange> ranges = new ArrayList<>();
    private long count;

    public void add(long number) {
        count++;
        int last = ranges.size() - 1;
        if (last >= 0 && ranges.get(last).last() == number - 1) {
            ranges.set(last, new BatchRange(ranges.get(last).first(), number));
        } else if (ranges.size() < KEPT) {
            ranges.add(new BatchRange(number, number));
        }
    }

    /** Adds numbers that are greater than all earlier ones. */
    public void addAll(Ranges later) {
        count += later.count;
        for (BatchRange range : later.ranges) {
            int last = ranges.size() - 1;
            if (last >= 0 && ranges.get(last).last() == range.first() - 1) {
                ranges.set(last, new BatchRange(ranges.get(last).first(), range.last()));
            } else if (ranges.size() < KEPT) {
                ranges.add(range);
            }
        }
    }

    public long count() {
        return count;
    }

    public EpochBatches toBatches() {
        return new EpochBatches(count, ranges);
    }
}

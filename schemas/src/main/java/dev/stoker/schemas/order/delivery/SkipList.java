package dev.stoker.schemas.order.delivery;

import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.text.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Batches that a trainer leaves out, by epoch and number.
 *
 * @param ranges ascending by epoch and number; the ranges of an epoch are disjoint and not adjacent
 */
public record SkipList(List<Range> ranges) {

    /** Leaves out nothing. */
    public static final SkipList NONE = new SkipList(List.of());

    /** The most ranges of a trainer. All of them fit into a HELLO. */
    public static final int MAX_RANGES = 256;

    /** Greatest number of a batch that can be skipped. */
    public static final long MAX_NUMBER = (1L << 53) - 1;

    private static final int DIGITS = 16;
    private static final Pattern EPOCH_TEXT = Pattern.compile("\\[(\\[\\d+,\\d+](,\\[\\d+,\\d+])*)?]");
    private static final Pattern RANGE_TEXT = Pattern.compile("\\[(\\d{1," + DIGITS + "}),(\\d{1," + DIGITS + "})]");

    /**
     * Consecutive batches of an epoch.
     *
     * @param epoch the epoch
     * @param first number of the first batch
     * @param last number of the last batch
     */
    public record Range(long epoch, long first, long last) {
        public Range {
            if (epoch < 0 || first < 0 || last < first || last > MAX_NUMBER) {
                throw new IllegalArgumentException("batches " + first + " to " + last + " of epoch " + epoch
                        + " cannot be skipped: expected 0 <= first <= last < 2^53");
            }
        }
    }

    public SkipList {
        ranges = List.copyOf(ranges);
        if (ranges.size() > MAX_RANGES) {
            throw new IllegalArgumentException(
                    ranges.size() + " ranges of batches are skipped: expected at most " + MAX_RANGES);
        }
        for (int i = 1; i < ranges.size(); i++) {
            Range earlier = ranges.get(i - 1);
            Range later = ranges.get(i);
            boolean ascends = earlier.epoch < later.epoch
                    || (earlier.epoch == later.epoch && later.first > earlier.last && later.first - earlier.last > 1);
            if (!ascends) {
                throw new IllegalArgumentException("skipped batches " + earlier.first + " to " + earlier.last
                        + " of epoch " + earlier.epoch + " and " + later.first + " to " + later.last + " of epoch "
                        + later.epoch + " overlap, touch or descend");
            }
        }
    }

    /** Creates the list of ranges in any order, which may overlap. */
    public static SkipList of(List<Range> any) {
        List<Range> sorted = new ArrayList<>(any);
        sorted.sort(Comparator.comparingLong(Range::epoch).thenComparingLong(Range::first));
        List<Range> merged = new ArrayList<>();
        for (Range range : sorted) {
            Range before = merged.isEmpty() ? null : merged.get(merged.size() - 1);
            if (before != null && before.epoch == range.epoch && range.first - 1 <= before.last) {
                merged.set(merged.size() - 1, new Range(before.epoch, before.first, Math.max(before.last, range.last)));
            } else {
                merged.add(range);
            }
        }
        return new SkipList(merged);
    }

    /**
     * Reads the {@linkplain #text text} of an epoch's ranges.
     *
     * @throws IllegalArgumentException if it is malformed
     */
    public static SkipList parse(long epoch, String text) {
        if (!EPOCH_TEXT.matcher(text).matches()) {
            throw new IllegalArgumentException("skipped batches '" + text + "': expected a list of [first,last]");
        }
        List<Range> ranges = new ArrayList<>();
        Matcher found = RANGE_TEXT.matcher(text);
        while (found.find()) {
            ranges.add(new Range(epoch, Long.parseLong(found.group(1)), Long.parseLong(found.group(2))));
        }
        SkipList list = new SkipList(ranges);
        if (!list.text(epoch).equals(text)) {
            throw new IllegalArgumentException("skipped batches '" + text + "': expected " + list.text(epoch));
        }
        return list;
    }

    /** Returns the ranges of an epoch as text: {@code [[100,110],[200,200]]}, or {@code []}. */
    public String text(long epoch) {
        StringBuilder text = new StringBuilder("[");
        for (Range range : of(epoch)) {
            text.append(text.length() > 1 ? ",[" : "[").append(range.first).append(',');
            text.append(range.last).append(']');
        }
        return text.append(']').toString();
    }

    /** Returns the ranges of which a batch is at or after a position. */
    public SkipList from(Position position) {
        return new SkipList(ranges.stream()
                .filter(range -> range.epoch > position.epoch()
                        || (range.epoch == position.epoch() && range.last >= position.batch()))
                .toList());
    }

    /** Returns whether the list contains the batches of a range that are at or after a position. */
    public boolean contains(Range wanted, Position position) {
        long first = wanted.epoch == position.epoch() ? Math.max(wanted.first, position.batch()) : wanted.first;
        return of(wanted.epoch).stream().anyMatch(range -> range.first <= first && wanted.last <= range.last);
    }

    /** Returns the number of epochs of which batches are skipped. */
    public int epochs() {
        return (int) ranges.stream().mapToLong(Range::epoch).distinct().count();
    }

    /**
     * Checks that each range begins within its epoch.
     *
     * @param epoch the only epoch to check; empty for all epochs
     * @throws IllegalArgumentException naming the first range that does not
     */
    public void requireBatches(OptionalLong epoch, long batches) {
        for (Range range : ranges) {
            if (epoch.orElse(range.epoch) == range.epoch && range.first >= batches) {
                throw new IllegalArgumentException("skip: epoch " + range.epoch + " has "
                        + Units.plural(batches, "batch") + ", so it has no batches " + range.first + " to "
                        + range.last);
            }
        }
    }

    /** Returns the skipped batches of an epoch. */
    public SkippedBatches in(long epoch, EpochSize size) {
        return new SkippedBatches(size.batches(), of(epoch));
    }

    private List<Range> of(long epoch) {
        return ranges.stream().filter(range -> range.epoch == epoch).toList();
    }
}

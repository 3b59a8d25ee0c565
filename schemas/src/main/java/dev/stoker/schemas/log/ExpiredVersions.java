package dev.stoker.schemas.log;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The versions that were expired, each with the version whose log entry has expired it. Immutable. As a text, ranges in
 * ascending order, separated by commas: {@code 1-40@57,42-42@60}. Without the entries: {@code 1-40,42-42}.
 */
public final class ExpiredVersions {

    /** No versions. */
    public static final ExpiredVersions NONE = new ExpiredVersions(new TreeMap<>());

    private static final Pattern RANGE =
            Pattern.compile("([1-9][0-9]{0,17})-([1-9][0-9]{0,17})(?:@([1-9][0-9]{0,17}))?");

    private final NavigableMap<Long, Range> ranges;

    private ExpiredVersions(NavigableMap<Long, Range> ranges) {
        this.ranges = ranges;
    }

    /**
     * Versions without gaps that one entry has expired.
     *
     * @param first the first version
     * @param last the last version
     * @param by the version whose entry has expired them
     */
    public record Range(long first, long last, long by) {
        public Range {
            if (first < 1 || last < first || by <= last) {
                throw new IllegalArgumentException(
                        "versions " + first + " to " + last + " cannot be expired by version " + by);
            }
        }
    }

    /**
     * Returns these and further versions.
     *
     * @throws IllegalArgumentException if one of them was expired before
     */
    public ExpiredVersions with(List<Range> more) {
        NavigableMap<Long, Range> all = new TreeMap<>(ranges);
        for (Range range : more) {
            Map.Entry<Long, Range> before = all.floorEntry(range.last);
            if (before != null && before.getValue().last >= range.first) {
                throw new IllegalArgumentException("versions " + range.first + " to " + range.last
                        + " overlap with versions " + before.getValue().first + " to "
                        + before.getValue().last + ", which were expired before");
            }
            all.put(range.first, range);
        }
        return new ExpiredVersions(all);
    }

    /** Returns the ranges in ascending order. */
    public List<Range> ranges() {
        return List.copyOf(ranges.values());
    }

    public boolean isEmpty() {
        return ranges.isEmpty();
    }

    /** Returns the version whose entry has expired a version; empty for a version that was not expired. */
    public OptionalLong by(long version) {
        Map.Entry<Long, Range> range = ranges.floorEntry(version);
        return range == null || range.getValue().last < version
                ? OptionalLong.empty()
                : OptionalLong.of(range.getValue().by);
    }

    /** Returns whether a version was expired. */
    public boolean contains(long version) {
        return by(version).isPresent();
    }

    /** Returns the oldest version that was not expired. */
    public long oldestKept() {
        long version = 1;
        for (Range range : ranges.values()) {
            if (range.first > version) {
                break;
            }
            version = range.last + 1;
        }
        return version;
    }

    /**
     * Reads a text with entries.
     *
     * @throws IllegalArgumentException if it has another form
     */
    public static ExpiredVersions parse(String text) {
        if (text.isEmpty()) {
            return NONE;
        }
        List<Range> ranges = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            Matcher matcher = matched(part);
            if (matcher.group(3) == null) {
                throw new IllegalArgumentException("'" + part + "' does not name the entry");
            }
            ranges.add(range(matcher, Long.parseLong(matcher.group(3))));
        }
        return checked(ranges, text, NONE.with(ranges).toString());
    }

    /**
     * Reads the text of a log entry.
     *
     * @param by the version of the entry
     * @throws IllegalArgumentException if it has another form
     */
    public static ExpiredVersions parse(String text, long by) {
        List<Range> ranges = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            Matcher matcher = matched(part);
            if (matcher.group(3) != null) {
                throw new IllegalArgumentException("'" + part + "' names an entry");
            }
            ranges.add(range(matcher, by));
        }
        return checked(ranges, text, NONE.with(ranges).text());
    }

    private static Matcher matched(String part) {
        Matcher matcher = RANGE.matcher(part);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + part + "' is not a range of versions such as 1-40");
        }
        return matcher;
    }

    private static Range range(Matcher matcher, long by) {
        return new Range(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)), by);
    }

    /** Accepts only the canonical form. */
    private static ExpiredVersions checked(List<Range> ranges, String text, String canonical) {
        if (!text.equals(canonical)) {
            throw new IllegalArgumentException("the versions '" + text + "' do not ascend");
        }
        return NONE.with(ranges);
    }

    /** Returns the text of a log entry, without the entries. */
    public String text() {
        return String.join(
                ",",
                ranges.values().stream()
                        .map(range -> range.first + "-" + range.last)
                        .toList());
    }

    /** Returns the text with the entries. */
    @Override
    public String toString() {
        return String.join(
                ",",
                ranges.values().stream()
                        .map(range -> range.first + "-" + range.last + "@" + range.by)
                        .toList());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ExpiredVersions that && ranges.equals(that.ranges);
    }

    @Override
    public int hashCode() {
        return ranges.hashCode();
    }
}

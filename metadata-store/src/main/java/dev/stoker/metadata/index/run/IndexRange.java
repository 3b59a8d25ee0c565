package dev.stoker.metadata.index.run;

import dev.stoker.metadata.DatasetLayout;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The versions that a run of the sample index covers, as in the name of its file.
 *
 * @param first first version, at least 1
 * @param last last version
 */
public record IndexRange(long first, long last) {

    private static final Pattern NAME =
            Pattern.compile(Pattern.quote(DatasetLayout.INDEX) + "([0-9]{20})-([0-9]{20})\\.arrow");

    public IndexRange {
        if (first < 1 || last < first) {
            throw new IllegalArgumentException("versions " + first + " to " + last);
        }
    }

    /** Returns the range of the run with this name; empty if it is not the name of a run. */
    public static Optional<IndexRange> ofName(String name) {
        Matcher matcher = NAME.matcher(name);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new IndexRange(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2))));
        } catch (IllegalArgumentException e) {
            // Too large a number, or not a range.
            return Optional.empty();
        }
    }

    /** Returns the name of the run's file. */
    public String name() {
        return String.format(Locale.ROOT, "%s%020d-%020d.arrow", DatasetLayout.INDEX, first, last);
    }

    /** Returns whether the range includes a version. */
    public boolean contains(long version) {
        return first <= version && version <= last;
    }

    /** Returns whether the range includes another range. */
    public boolean contains(IndexRange other) {
        return first <= other.first && other.last <= last;
    }

    /** Returns the ranges that another one of them includes. */
    public static List<IndexRange> superseded(Collection<IndexRange> ranges) {
        List<IndexRange> superseded = new ArrayList<>();
        for (IndexRange range : ranges) {
            if (ranges.stream().anyMatch(other -> other.contains(range) && !other.equals(range))) {
                superseded.add(range);
            }
        }
        return superseded;
    }
}

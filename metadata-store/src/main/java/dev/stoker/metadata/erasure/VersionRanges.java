package dev.stoker.metadata.erasure;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Writes and reads versions as ranges: {@code 1-7,9-9}. */
public final class VersionRanges {

    private static final Pattern RANGE = Pattern.compile("([1-9][0-9]{0,17})-([1-9][0-9]{0,17})");

    /** More than any log has, and few enough to list. */
    private static final long MOST = 10_000_000;

    private VersionRanges() {}

    /** Returns the text of versions; empty for none. */
    public static String text(NavigableSet<Long> versions) {
        List<String> ranges = new ArrayList<>();
        long first = 0;
        for (long version : versions) {
            if (first == 0 || !versions.contains(version - 1)) {
                first = version;
            }
            if (!versions.contains(version + 1)) {
                ranges.add(first + "-" + version);
            }
        }
        return String.join(",", ranges);
    }

    /**
     * Reads the text.
     *
     * @throws IllegalArgumentException if it has another form
     */
    public static NavigableSet<Long> parse(String text) {
        NavigableSet<Long> versions = new TreeSet<>();
        if (text.isEmpty()) {
            return versions;
        }
        for (String part : text.split(",", -1)) {
            Matcher matcher = RANGE.matcher(part);
            if (!matcher.matches()) {
                throw new IllegalArgumentException("'" + part + "' is not a range of versions such as 1-40");
            }
            if (Long.parseLong(matcher.group(2)) - Long.parseLong(matcher.group(1)) >= MOST) {
                throw new IllegalArgumentException("'" + part + "' has more than " + MOST + " versions");
            }
            for (long version = Long.parseLong(matcher.group(1));
                    version <= Long.parseLong(matcher.group(2));
                    version++) {
                versions.add(version);
            }
        }
        return versions;
    }
}

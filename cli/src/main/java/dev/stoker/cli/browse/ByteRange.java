package dev.stoker.cli.browse;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A part of a body, which players of audio and video ask for.
 *
 * @param first the first byte
 * @param last the last byte, inclusive
 */
record ByteRange(int first, int last) {

    private static final Pattern HEADER = Pattern.compile("bytes=([0-9]{0,10})-([0-9]{0,10})");

    /** Parses a Range header; empty for one that asks for everything or for several parts. */
    static Optional<ByteRange> of(String header, int length) {
        Matcher matcher = HEADER.matcher(header);
        if (length == 0 || !matcher.matches()) {
            return Optional.empty();
        }
        String first = matcher.group(1);
        String last = matcher.group(2);
        if (first.isEmpty()) {
            long count = last.isEmpty() ? 0 : Math.min(length, Long.parseLong(last));
            return count == 0 ? Optional.empty() : Optional.of(new ByteRange((int) (length - count), length - 1));
        }
        long end = last.isEmpty() ? length - 1 : Math.min(length - 1L, Long.parseLong(last));
        return Long.parseLong(first) > end
                ? Optional.empty()
                : Optional.of(new ByteRange(Integer.parseInt(first), (int) end));
    }
}

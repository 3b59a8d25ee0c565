package dev.stoker.feeder.plan;

import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A stream as it is typed: {@code [name=]path[@version][:split]}. The name is the split unless given, the split is
 * {@code train}, the version the newest.
 *
 * @param name name of the stream
 * @param path the dataset's directory or URI
 * @param version the version, if one is given
 * @param split the split
 */
public record StreamArgument(String name, String path, OptionalLong version, String split) {

    /** A URI without a path: the number at its end is a port and no split. */
    private static final String HOST_AND_PORT = "[A-Za-z][A-Za-z0-9+.-]+://[^/:@]+:[0-9]+(?=[@:]|$)";

    private static final Pattern SYNTAX = Pattern.compile("(?:(?<name>[A-Za-z0-9_][A-Za-z0-9_.-]*)=)?(?<path>"
            + HOST_AND_PORT + "|.+?)(?:@(?<version>[0-9]{1,18}))?(?::(?<split>[A-Za-z0-9_.-]+))?");

    /**
     * Parses a stream argument.
     *
     * @throws IllegalArgumentException if it has another form
     */
    public static StreamArgument parse(String text) {
        Matcher matcher = SYNTAX.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + text
                    + "' is not a stream: expected [name=]path[@version][:split], such as val=./data/photos:val");
        }
        String split = matcher.group("split") == null ? "train" : matcher.group("split");
        String name = matcher.group("name") == null ? split : matcher.group("name");
        OptionalLong version = matcher.group("version") == null
                ? OptionalLong.empty()
                : OptionalLong.of(Long.parseLong(matcher.group("version")));
        return new StreamArgument(name, matcher.group("path"), version, split);
    }
}

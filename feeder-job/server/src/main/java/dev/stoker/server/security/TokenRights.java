package dev.stoker.server.security;

import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import java.util.List;
import java.util.Locale;

/**
 * What the holder of a token may do.
 *
 * @param streams names of streams, or beginnings of them with an asterisk behind; empty for all streams
 * @param groups the same of groups
 * @param right the greatest right
 */
public record TokenRights(List<String> streams, List<String> groups, Right right) {

    /** Without limits. */
    public static final TokenRights ALL = new TokenRights(List.of(), List.of(), Right.ADMINISTER);

    public TokenRights {
        streams = List.copyOf(streams);
        groups = List.copyOf(groups);
    }

    /** Whether a right is included. */
    public boolean includes(Right wanted) {
        return right.compareTo(wanted) >= 0;
    }

    /**
     * Refuses a stream or group that the token is not for.
     *
     * @throws ProtocolException naming the limit
     */
    public void require(String stream, String group) throws ProtocolException {
        require("stream", stream, streams);
        require("group", group, groups);
    }

    private static void require(String what, String name, List<String> limits) throws ProtocolException {
        if (!limits.isEmpty() && limits.stream().noneMatch(limit -> isWithin(name, limit))) {
            throw unauthorized("for " + what + " " + name + ", only for " + what + "s " + String.join(", ", limits));
        }
    }

    private static boolean isWithin(String name, String limit) {
        return limit.endsWith("*") ? name.startsWith(limit.substring(0, limit.length() - 1)) : name.equals(limit);
    }

    /**
     * Refuses what needs a greater right.
     *
     * @param what that was tried, for the message
     * @throws ProtocolException naming the right
     */
    public void require(Right wanted, String what) throws ProtocolException {
        if (!includes(wanted)) {
            throw unauthorized("to " + wanted.name().toLowerCase(Locale.ROOT) + ", which " + what
                    + " needs; its greatest right is " + right.name().toLowerCase(Locale.ROOT));
        }
    }

    private static ProtocolException unauthorized(String limit) {
        return new ProtocolException(
                ErrorCode.UNAUTHORIZED,
                "the token is not " + limit + ": ask the feed's administrator for another line in its token file");
    }
}

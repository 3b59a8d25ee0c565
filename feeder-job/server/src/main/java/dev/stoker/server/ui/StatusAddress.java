package dev.stoker.server.ui;

import dev.stoker.server.feed.PortRange;
import java.util.Optional;

/**
 * Where a feeder shows how it stands.
 *
 * @param host host name or address to listen on
 * @param ports ports to try
 * @param fallback whether any other port will do when these are taken
 */
public record StatusAddress(String host, PortRange ports, Fallback fallback) {

    /** What to do when all ports are taken. */
    public enum Fallback {
        /** Take any other. */
        ANY_PORT,
        /** Fail. */
        NONE
    }

    /** What the option says unless it is given. */
    public static final String DEFAULT = "127.0.0.1:7430-7449";

    private static final String OFF = "off";

    /**
     * Parses {@code off}, {@code 7430}, {@code 7430-7449} or {@code 0.0.0.0:7430}; without a host, loopback.
     *
     * @return empty for {@code off}
     */
    public static Optional<StatusAddress> parse(String text) {
        if (text.equals(OFF)) {
            return Optional.empty();
        }
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "127.0.0.1" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        if (host.isEmpty()) {
            throw new IllegalArgumentException(
                    "'" + text + "': expected a host before the colon, as in 0.0.0.0:7430, or a port alone");
        }
        return Optional.of(new StatusAddress(
                host,
                PortRange.parse(text.substring(colon + 1)),
                text.equals(DEFAULT) ? Fallback.ANY_PORT : Fallback.NONE));
    }
}

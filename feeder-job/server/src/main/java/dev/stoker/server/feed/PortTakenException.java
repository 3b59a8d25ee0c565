package dev.stoker.server.feed;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** None of the configured ports is free. */
public final class PortTakenException extends IOException {
    private static final long serialVersionUID = 1L;

    public PortTakenException(String bind, PortRange ports, IOException cause) {
        super(
                (ports.first() == ports.last() ? "port " + ports + " on " : "every port of " + ports + " on ")
                        + bind
                        + " is taken, perhaps by another feed (stoker ps lists them): stop that one, or give --port"
                        + " with another port, a range such as 7420-7430, or 0 for any",
                cause);
    }

    private PortTakenException(String message, @Nullable IOException cause) {
        super(message, cause);
    }

    /** The same of the page that shows a feed. */
    public static PortTakenException ofPage(String host, PortRange ports, @Nullable IOException cause) {
        return new PortTakenException(
                "the feed cannot be shown at " + host + ":" + ports
                        + ", which is taken: give --ui with another port, a range such as 7430-7449, 0 for any, or off",
                cause);
    }
}

package dev.stoker.server.session.accept;

import java.io.IOException;

/** What arrives where TLS is spoken is no TLS. */
final class PlainTextException extends IOException {
    private static final long serialVersionUID = 1L;

    private final boolean probe;

    /** @param probe whether it only asks whether a server answers, which it may do in plain text */
    PlainTextException(boolean probe) {
        super("not TLS");
        this.probe = probe;
    }

    boolean isProbe() {
        return probe;
    }
}

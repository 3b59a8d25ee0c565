package dev.stoker.feeder.node.server;

import java.io.IOException;

/** What arrives where TLS is spoken is no TLS. */
final class PlainTextException extends IOException {
    private static final long serialVersionUID = 1L;

    PlainTextException() {
        super("not TLS");
    }
}

package dev.stoker.cli.output;

import java.io.IOException;
import java.util.Locale;

/** Standard output cannot be written, so that the output of the command is incomplete. */
final class LostOutputException extends IOException {

    private static final long serialVersionUID = 1L;

    /** What a shell reports for a program that SIGPIPE has ended. The JVM ignores this signal. */
    private static final int CLOSED = 128 + 13;

    private final boolean isClosed;

    LostOutputException(IOException cause) {
        super("standard output cannot be written, so the output is incomplete: " + cause.getMessage(), cause);
        // Translations of this message keep the word.
        this.isClosed =
                String.valueOf(cause.getMessage()).toLowerCase(Locale.ROOT).contains("pipe");
    }

    /** Returns whether the reader of a pipe has gone. It has what it wants, as the command head has. */
    boolean isClosed() {
        return isClosed;
    }

    /** Returns the exit code of the command. */
    int code() {
        return isClosed ? CLOSED : Errors.FAILED;
    }
}

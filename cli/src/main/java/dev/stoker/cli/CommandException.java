package dev.stoker.cli;

import java.io.IOException;

/** What a user did, or what the machine lacks, in one line that says what to do; there is nothing more to read in a log. */
final class CommandException extends IOException {

    private static final long serialVersionUID = 1L;

    private final int code;

    CommandException(String message) {
        this(message, Errors.FAILED, null);
    }

    /**
     * @param code exit code of the command
     * @param cause what lies below, or null
     */
    CommandException(String message, int code, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    int code() {
        return code;
    }
}

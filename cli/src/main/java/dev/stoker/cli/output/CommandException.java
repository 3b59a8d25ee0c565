package dev.stoker.cli.output;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A user error, or a missing resource of the machine, in one line with the next step. The log has no further details.
 */
public final class CommandException extends IOException {

    private static final long serialVersionUID = 1L;

    private final int code;

    public CommandException(String message) {
        this(message, Errors.FAILED, null);
    }

    /**
     * @param code exit code of the command
     * @param cause the underlying failure, or null
     */
    public CommandException(String message, int code, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public int code() {
        return code;
    }
}

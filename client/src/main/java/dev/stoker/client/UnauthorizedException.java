package dev.stoker.client;

/** The feed wants a token, or another one; or the file that should hold it cannot be read. */
public final class UnauthorizedException extends RefusedException {
    private static final long serialVersionUID = 1L;

    UnauthorizedException(String message) {
        super(message, "unauthorized");
    }
}

package dev.stoker.client.errors;

/** The feed requires a token, or another one; or the token's file cannot be read. */
public final class UnauthorizedException extends FeedProtocolException {
    private static final long serialVersionUID = 1L;

    public UnauthorizedException(String message) {
        super(message, "unauthorized");
    }
}

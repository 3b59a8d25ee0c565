package dev.stoker.client.errors;

/** A connection could not be secured. The message names the failed check and the address. No data was exchanged. */
public final class TlsException extends FeedException {
    private static final long serialVersionUID = 1L;

    public TlsException(String message) {
        super(message);
    }

    public TlsException(String message, Throwable cause) {
        super(message, cause);
    }
}

package dev.stoker.transport;

/** A PEM text cannot be used. The message says why and contains nothing of a key. It does not name the file. */
public final class PemException extends Exception {
    private static final long serialVersionUID = 1L;

    PemException(String message) {
        super(message);
    }

    PemException(String message, Throwable cause) {
        super(message, cause);
    }
}

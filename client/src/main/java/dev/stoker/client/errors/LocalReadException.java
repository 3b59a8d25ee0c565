package dev.stoker.client.errors;

/** A file cannot be read here; the feeder must send payload over the connection. Never leaves the package. */
public final class LocalReadException extends Exception {
    private static final long serialVersionUID = 1L;

    public LocalReadException(String message) {
        super(message);
    }
}

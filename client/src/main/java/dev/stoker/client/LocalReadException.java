package dev.stoker.client;

/** A file cannot be read here; the feeder must send payload over the connection. Never leaves the package. */
final class LocalReadException extends Exception {
    private static final long serialVersionUID = 1L;

    LocalReadException(String message) {
        super(message);
    }
}

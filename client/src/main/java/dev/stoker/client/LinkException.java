package dev.stoker.client;

/** A connection has ended, or must end; the client reconnects. Never leaves the package. */
final class LinkException extends Exception {
    private static final long serialVersionUID = 1L;

    /** The client's reaction. */
    enum Kind {
        /** Reconnect. */
        LOST,
        /** Reconnect, but try another feeder first. */
        ELSEWHERE,
        /** The feeder violated the protocol. */
        BROKEN
    }

    private final Kind kind;

    private LinkException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    static LinkException lost(String message) {
        return new LinkException(Kind.LOST, message);
    }

    static LinkException elsewhere(String message) {
        return new LinkException(Kind.ELSEWHERE, message);
    }

    static LinkException broken(String message) {
        return new LinkException(Kind.BROKEN, message);
    }

    Kind kind() {
        return kind;
    }
}

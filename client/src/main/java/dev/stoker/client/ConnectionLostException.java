package dev.stoker.client;

/** A connection has ended, or must end; the client reconnects. Never leaves the package. */
final class ConnectionLostException extends Exception {
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

    private ConnectionLostException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    static ConnectionLostException lost(String message) {
        return new ConnectionLostException(Kind.LOST, message);
    }

    static ConnectionLostException crossLanes(String message) {
        return new ConnectionLostException(Kind.ELSEWHERE, message);
    }

    static ConnectionLostException broken(String message) {
        return new ConnectionLostException(Kind.BROKEN, message);
    }

    Kind kind() {
        return kind;
    }
}

package dev.stoker.client.errors;

/** A connection has ended, or must end; the client reconnects. Never leaves the package. */
public final class ConnectionLostException extends Exception {
    private static final long serialVersionUID = 1L;

    /** The client's reaction. */
    public enum Kind {
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

    public static ConnectionLostException lost(String message) {
        return new ConnectionLostException(Kind.LOST, message);
    }

    public static ConnectionLostException crossLanes(String message) {
        return new ConnectionLostException(Kind.ELSEWHERE, message);
    }

    public static ConnectionLostException broken(String message) {
        return new ConnectionLostException(Kind.BROKEN, message);
    }

    public Kind kind() {
        return kind;
    }
}

package dev.stoker.client;

/** A connection has ended, or must; the client connects again. Never leaves the package. */
final class LinkException extends Exception {
    private static final long serialVersionUID = 1L;

    /** What follows from it. */
    enum Kind {
        /** Connect again. */
        LOST,
        /** Connect again, to another feeder first. */
        ELSEWHERE,
        /** The feeder did what it must not. */
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

package dev.stoker.formats;

/** Thrown when a single value cannot be stored in its field. The rest of the file can be read. */
public class BadValueException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String reason;

    /** @param reason the reason as a clause, such as "300 does not fit into int8" */
    public BadValueException(String reason) {
        super(reason);
        this.reason = reason;
    }

    /**
     * Creates an exception with a next step, which is a part of the message.
     *
     * @param reason the reason as a clause
     * @param advice the next step as a clause, with options of an ingest
     */
    public BadValueException(String reason, String advice) {
        super(reason + "; " + advice);
        this.reason = reason;
    }

    /** Returns the reason without the next step, for commands that do not have the options of an ingest. */
    public String reason() {
        return reason;
    }
}

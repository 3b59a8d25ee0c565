package dev.stoker.ingest.topic.value;

/** A record that cannot become a sample. Has no stack trace, because the record causes it, not the code. */
public final class PoisonException extends Exception {

    private static final long serialVersionUID = 1;

    private final transient Reason reason;

    /** The reason why a record cannot become a sample. Dead letters contain these names. */
    public enum Reason {
        /** The record has no value, or the value is not in the format. */
        VALUE,
        /** A required field is missing. */
        MISSING_FIELD,
        /** A field's value does not fit the field's type. */
        FIELD,
        /** The record has no key, or one that is not UTF-8. */
        KEY,
        /** Another sample has the same key. */
        DUPLICATE_KEY,
        /** The record is larger than a sample may be. */
        TOO_LARGE
    }

    public PoisonException(Reason reason, String message) {
        super(message, null, false, false);
        this.reason = reason;
    }

    Reason reason() {
        return reason;
    }
}

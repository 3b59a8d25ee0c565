package dev.stoker.ingest.stream;

/** A record that cannot become a sample. Carries no stack trace: it is about the record, not about the code. */
final class PoisonException extends Exception {

    private static final long serialVersionUID = 1;

    private final transient Reason reason;

    /** Why a record cannot become a sample; the names stand in dead letters. */
    enum Reason {
        /** It has no value, or the value is not in the format. */
        VALUE,
        /** A field that each sample has is missing. */
        MISSING_FIELD,
        /** A field's value does not fit the field's type. */
        FIELD,
        /** It has no key, or one that is not UTF-8. */
        KEY,
        /** Another sample has its key. */
        DUPLICATE_KEY,
        /** It is larger than a sample may be. */
        TOO_LARGE
    }

    PoisonException(Reason reason, String message) {
        super(message, null, false, false);
        this.reason = reason;
    }

    Reason reason() {
        return reason;
    }
}

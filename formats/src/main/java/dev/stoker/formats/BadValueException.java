package dev.stoker.formats;

/** Thrown when a single value cannot be stored in its field. The rest of the file can be read. */
public class BadValueException extends Exception {
    private static final long serialVersionUID = 1L;

    /** @param message the reason as a clause, such as "300 does not fit into int8" */
    public BadValueException(String message) {
        super(message);
    }
}

package dev.stoker.schemas.errors;

/** The text of failures in reports and messages. */
public final class ErrorText {
    private ErrorText() {}

    /** Returns the message of a failure, or the name of its class if it has none, as exceptions of libraries may. */
    public static String of(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.getClass().getName() : message;
    }
}

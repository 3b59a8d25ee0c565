package dev.stoker.flink.failure;

import dev.stoker.schemas.errors.StokerException;
import org.apache.flink.util.SerializedThrowable;
import org.jspecify.annotations.Nullable;

/** Extracts from Flink's exceptions the one line that tells a user what went wrong. */
public final class FailureText {

    private FailureText() {}

    /** Returns this line. */
    public static @Nullable String of(Throwable failure) {
        Throwable reason = reason(failure);
        if (reason instanceof StokerException) {
            return reason.getMessage();
        }
        return reason.getMessage() == null
                ? reason.toString()
                : reason.getClass().getSimpleName() + ": " + reason.getMessage();
    }

    /** Returns the outermost cause that Stoker has a type for, or else the innermost one. */
    public static Throwable reason(Throwable failure) {
        Throwable deepest = failure;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            deepest = cause instanceof SerializedThrowable serialized
                    ? serialized.deserializeError(FailureText.class.getClassLoader())
                    : cause;
            if (deepest instanceof StokerException) {
                return deepest;
            }
        }
        return deepest;
    }
}

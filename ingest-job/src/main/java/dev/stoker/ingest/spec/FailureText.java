package dev.stoker.ingest.spec;

import dev.stoker.schemas.errors.StokerException;
import org.apache.flink.util.SerializedThrowable;
import org.jspecify.annotations.Nullable;

/** Extracts from Flink's exceptions the one line that tells a user what went wrong. */
public final class FailureText {

    private FailureText() {}

    /** Returns this line. */
    public static @Nullable String of(Throwable failure) {
        Throwable deepest = failure;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            Throwable own = cause instanceof SerializedThrowable serialized
                    ? serialized.deserializeError(FailureText.class.getClassLoader())
                    : cause;
            if (own instanceof StokerException) {
                return own.getMessage();
            }
            deepest = own;
        }
        return deepest.getMessage() == null
                ? deepest.toString()
                : deepest.getClass().getSimpleName() + ": " + deepest.getMessage();
    }
}

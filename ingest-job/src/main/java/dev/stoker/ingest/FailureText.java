package dev.stoker.ingest;

import dev.stoker.connectors.files.UnreadableException;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.NoSpaceException;
import java.util.List;
import org.apache.flink.util.SerializedThrowable;

/** Finds, in what Flink throws, the one line that tells a user what went wrong. */
public final class FailureText {

    /** Their messages are written for users. */
    private static final List<Class<?>> TYPED =
            List.of(UnreadableException.class, StokerException.class, NoSpaceException.class, TopicException.class);

    private FailureText() {}

    /** The line. */
    public static String of(Throwable failure) {
        Throwable deepest = failure;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            Throwable own = cause instanceof SerializedThrowable serialized
                    ? serialized.deserializeError(FailureText.class.getClassLoader())
                    : cause;
            for (Class<?> type : TYPED) {
                if (type.isInstance(own)) {
                    return own.getMessage();
                }
            }
            deepest = own;
        }
        return deepest.getMessage() == null
                ? deepest.toString()
                : deepest.getClass().getSimpleName() + ": " + deepest.getMessage();
    }
}

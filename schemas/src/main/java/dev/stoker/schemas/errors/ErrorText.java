package dev.stoker.schemas.errors;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;

/** The text of failures in reports and messages. */
public final class ErrorText {
    private ErrorText() {}

    /** Returns the message of a failure, or the name of its class if it has none, as exceptions of libraries may. */
    public static String of(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.getClass().getName() : message;
    }

    /**
     * Returns why a server cannot be reached. The exceptions of Java's HTTP client have no message if nothing listens,
     * or if the host is unknown.
     */
    public static String ofConnection(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof UnresolvedAddressException || at instanceof UnknownHostException) {
                return "the name of the host is not known here";
            }
            if (at instanceof HttpTimeoutException) {
                return "it does not answer in time";
            }
        }
        if (failure instanceof ConnectException && (failure.getMessage() == null || isRefused(failure))) {
            return "the connection is refused: nothing listens at this address";
        }
        return of(failure);
    }

    private static boolean isRefused(Throwable failure) {
        return of(failure).contains("refused");
    }
}

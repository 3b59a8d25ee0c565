package dev.stoker.flink.failure;

import dev.stoker.schemas.errors.ErrorText;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;

/** The text of failed connections in messages. */
public final class ConnectionText {
    private ConnectionText() {}

    /**
     * Returns why a server cannot be reached. The exceptions of Java's HTTP client have no message if nothing listens,
     * or if the host is unknown.
     */
    public static String of(Throwable failure) {
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
        return ErrorText.of(failure);
    }

    private static boolean isRefused(Throwable failure) {
        return ErrorText.of(failure).contains("refused");
    }
}

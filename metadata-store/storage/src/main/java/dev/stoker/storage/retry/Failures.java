package dev.stoker.storage.retry;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.errors.NoSpaceException;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.StoreAccessException;
import dev.stoker.storage.errors.StoreUnavailableException;
import dev.stoker.storage.errors.UnsupportedStoreException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/** Classifies the exceptions of one kind of store and adds the next step for the user. */
public abstract class Failures {

    /** Returns the kind of a failure. */
    public abstract StoreFailureKind kind(IOException e);

    /** Returns the reason in one line. */
    public String reason(Throwable e) {
        Throwable deepest = e;
        while (deepest.getCause() != null && deepest.getCause() != deepest) {
            deepest = deepest.getCause();
        }
        String message = deepest.getMessage();
        String line =
                message == null ? "" : message.lines().findFirst().orElse("").strip();
        return line.isEmpty() ? deepest.getClass().getSimpleName() : line;
    }

    /** Returns the exception that a server has sent, if this one contains it. */
    protected IOException unwrap(IOException e) {
        return e;
    }

    /** Returns the cause of the exception that explains this one. Its message must not repeat the explanation. */
    protected @Nullable Throwable cause(IOException e) {
        return e instanceof BrokenReadException ? null : e;
    }

    /** Returns whether the server refused a request because it does not know it. */
    protected boolean isUnsupported(IOException e) {
        return false;
    }

    /** Returns whether a write of one request that failed with this exception may have taken effect. */
    public final boolean mayHaveBeenDone(IOException e) {
        return kind(e) == StoreFailureKind.TRANSIENT || e instanceof InterruptedIOException;
    }

    /**
     * Returns the exception for the caller.
     *
     * @param verb verb such as {@code read}
     * @param where location of the object, as a user would type it
     * @param attempts number of attempts
     */
    public final IOException explain(String verb, String where, IOException wrapped, int attempts, CallScope scope) {
        if (wrapped instanceof StokerException) {
            return wrapped;
        }
        IOException e = decisive(unwrap(wrapped), scope);
        return switch (kind(e)) {
            case ABSENT -> absent(where, e);
            case DENIED -> new StoreAccessException(denied(verb, where, e), cause(e));
            case EXPIRED -> StoreAccessException.expired(denied(verb, where, e), cause(e));
            case NO_SPACE -> new NoSpaceException(where, e);
            case NO_NODES ->
                new StoreUnavailableException(
                        "Cannot " + verb + " " + where + ": no data node has accepted it within " + seconds(scope)
                                + "; start stopped data nodes, or free some space on them, and run the same command"
                                + " again",
                        e);
            case REFUSED -> refused(verb, where, e);
            case TRANSIENT -> {
                Exception last = scope.lastFailure() != null ? scope.lastFailure() : e;
                int tries = Math.max(attempts, scope.requests());
                yield new StoreUnavailableException(
                        "Cannot " + verb + " " + where + ": " + (tries == 1 ? "1 attempt" : tries + " attempts")
                                + " in "
                                + seconds(scope) + " failed, the last with " + reason(last)
                                + "; check that the store and the way to it are healthy, and run the same"
                                + " command again"
                                + ProxyAdvice.of(where, System.getenv()),
                        cause(e));
            }
        };
    }

    /**
     * Returns the exception that decides what is reported. If the time limit ends a call between two requests, the
     * exception of the call only says that it took too long. Expired credentials were the reason.
     */
    private IOException decisive(IOException e, CallScope scope) {
        Exception last = scope.lastFailure();
        if (last == null || kind(e) != StoreFailureKind.TRANSIENT) {
            return e;
        }
        IOException request = last instanceof IOException io ? io : new IOException(last);
        return kind(request) == StoreFailureKind.EXPIRED ? request : e;
    }

    private String denied(String verb, String where, IOException e) {
        return "Not allowed to " + verb + " " + where + ": " + reason(e)
                + "; check the credentials (see docs/stores.md) and their permissions there";
    }

    private static String seconds(CallScope scope) {
        return Math.max(1, scope.elapsed().toSeconds()) + " s";
    }

    private static NoSuchObjectException absent(String where, Exception cause) {
        NoSuchObjectException absent = new NoSuchObjectException(where);
        absent.initCause(cause);
        return absent;
    }

    private IOException refused(String verb, String where, IOException e) {
        if (e instanceof UnknownHostException) {
            return new StoreUnavailableException(
                    "Cannot " + verb + " " + where + ": unknown host " + e.getMessage()
                            + "; check the address in the location or in the store's configuration",
                    e);
        }
        if (isUnsupported(e)) {
            return new UnsupportedStoreException(
                    "Cannot " + verb + " " + where + ": the server does not support it: " + reason(e), e);
        }
        return new StoreUnavailableException(
                "Cannot " + verb + " " + where + ": " + reason(e)
                        + "; check the location and the store's configuration",
                cause(e));
    }
}

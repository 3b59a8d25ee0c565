package dev.stoker.storage.hadoop;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.NoSpaceException;
import dev.stoker.storage.NoSuchObjectException;
import dev.stoker.storage.StoreAccessException;
import dev.stoker.storage.StoreUnavailableException;
import dev.stoker.storage.UnsupportedStoreException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.hdfs.protocol.QuotaExceededException;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.security.AccessControlException;

/** Classifies exceptions of Hadoop and adds the next step for the user. */
final class StoreErrors {

    private StoreErrors() {}

    /** Lists the kinds of failures by the possible reaction. */
    enum Kind {
        /** The object does not exist. */
        ABSENT,
        /** Credentials are missing, wrong or not sufficient. */
        DENIED,
        /** The credentials were valid and must be renewed. */
        EXPIRED,
        NO_SPACE,
        /**
         * No data node of HDFS accepts a block: the nodes are down or full, or the name node has just started and does
         * not know them.
         */
        NO_NODES,
        /** The store has understood the request and will answer the same again. */
        REFUSED,
        /** The next attempt may succeed. */
        TRANSIENT
    }

    static IOException unwrap(IOException e) {
        return e instanceof RemoteException remote ? remote.unwrapRemoteException() : e;
    }

    static Kind kind(IOException wrapped) {
        IOException e = unwrap(wrapped);
        if (e instanceof FileNotFoundException || e instanceof NoSuchFileException) {
            return Kind.ABSENT;
        }
        if (isNoSpace(e)) {
            return Kind.NO_SPACE;
        }
        if (String.valueOf(e.getMessage()).contains("could only be written to 0 of the")) {
            return Kind.NO_NODES;
        }
        if (isS3(e)) {
            return S3Errors.kind(e);
        }
        if (e instanceof AccessControlException || e instanceof AccessDeniedException) {
            return Kind.DENIED;
        }
        if (e instanceof StokerException
                || (e instanceof InterruptedIOException && !(e instanceof SocketTimeoutException))
                || e instanceof UnknownHostException
                || e instanceof NoRouteToHostException
                || e instanceof PathIOException
                || e instanceof FileAlreadyExistsException
                || e instanceof ParentNotDirectoryException) {
            return Kind.REFUSED;
        }
        return Kind.TRANSIENT;
    }

    /** Returns whether a write that failed with this exception may have taken effect. */
    static boolean mayHaveBeenDone(IOException e) {
        return kind(e) == Kind.TRANSIENT;
    }

    private static boolean isS3(Throwable e) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            String type = t.getClass().getName();
            if (type.startsWith("software.amazon.") || type.startsWith("org.apache.hadoop.fs.s3a.")) {
                return true;
            }
        }
        return false;
    }

    private static boolean isNoSpace(IOException e) {
        if (e instanceof QuotaExceededException) {
            return true;
        }
        String message = String.valueOf(e.getMessage());
        return message.contains("No space left")
                || message.contains("QuotaExceeded")
                || message.contains("StorageFull");
    }

    /**
     * Returns the exception for the caller.
     *
     * @param verb verb such as {@code read}
     * @param where location of the object, as a user would type it
     * @param attempts number of attempts
     */
    static IOException explain(String verb, String where, IOException wrapped, int attempts, CallScope scope) {
        if (wrapped instanceof StokerException) {
            return wrapped;
        }
        IOException e = unwrap(wrapped);
        return switch (kind(e)) {
            case ABSENT -> absent(where, e);
            case DENIED -> new StoreAccessException(denied(verb, where, e), e);
            case EXPIRED -> StoreAccessException.expired(denied(verb, where, e), e);
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
                                + " command again",
                        // Stoker's own exceptions already have a complete message.
                        e instanceof BrokenReadException ? null : e);
            }
        };
    }

    private static String denied(String verb, String where, IOException e) {
        return "Not allowed to " + verb + " " + where + ": " + reason(e)
                + "; check the credentials (see docs/stores.md) and their permissions there";
    }

    private static String seconds(CallScope scope) {
        return Math.max(1, scope.elapsed().toSeconds()) + " s";
    }

    static NoSuchObjectException absent(String where, Exception cause) {
        NoSuchObjectException absent = new NoSuchObjectException(where);
        absent.initCause(cause);
        return absent;
    }

    private static IOException refused(String verb, String where, IOException e) {
        if (e instanceof UnknownHostException) {
            return new StoreUnavailableException(
                    "Cannot " + verb + " " + where + ": unknown host " + e.getMessage()
                            + "; check the address in the location or in the Hadoop configuration",
                    e);
        }
        if (isS3(e) && S3Errors.isUnsupported(e)) {
            return new UnsupportedStoreException(
                    "Cannot " + verb + " " + where + ": the server does not support it: " + reason(e), e);
        }
        return new StoreUnavailableException(
                "Cannot " + verb + " " + where + ": " + reason(e)
                        + "; check the location and the store's configuration",
                e);
    }

    /** Returns the reason in one line. */
    static String reason(Throwable e) {
        if (isS3(e)) {
            String s3 = S3Errors.reason(e);
            if (s3 != null) {
                return s3;
            }
        }
        Throwable deepest = e;
        while (deepest.getCause() != null && deepest.getCause() != deepest) {
            deepest = deepest.getCause();
        }
        String message = deepest.getMessage();
        String line =
                message == null ? "" : message.lines().findFirst().orElse("").strip();
        return line.isEmpty() ? deepest.getClass().getSimpleName() : line;
    }
}

package dev.stoker.storage;

import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.errors.NoSpaceException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Translates errors of a file system into messages with the next step for the user. */
public final class LocalErrors {

    private LocalErrors() {}

    /** Returns why an access to a file has failed, without its path, which may be the whole message. */
    public static String reason(Exception e) {
        if (e instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (e instanceof NoSuchFileException) {
            return "it does not exist";
        }
        return e instanceof FileSystemException known && known.getReason() != null
                ? known.getReason()
                : ErrorText.of(e);
    }

    static boolean isNoSpace(IOException e) {
        String message = e.getMessage();
        return message != null && (message.contains("No space left") || message.contains("quota exceeded"));
    }

    /** Returns an exception that names the target and, if known, the next step. */
    static IOException explain(Path target, IOException e) {
        if (e instanceof StokerException) {
            return e;
        }
        if (isNoSpace(e)) {
            return new NoSpaceException(target.toString(), e);
        }
        if (e instanceof AccessDeniedException) {
            return new IOException("Not allowed to write " + target + "; check the owner and mode of its directory", e);
        }
        return new IOException("Cannot write " + target + ": " + reason(e), e);
    }

    /** Returns whether the file system does not support hard links. */
    static boolean isNoLinks(IOException e) {
        String reason = e instanceof FileSystemException known ? known.getReason() : null;
        return reason != null
                && (reason.contains("Operation not permitted")
                        || reason.contains("not supported")
                        || reason.contains("Function not implemented"));
    }

    static IOException noLinks(Path target, Exception cause) {
        return new IOException(
                "The file system of " + target
                        + " does not support hard links, which atomic commits need; put the dataset on another file"
                        + " system",
                cause);
    }
}

package dev.stoker.schemas.errors;

/** Thrown when bytes are not those that were written: a checksum, a length or an offset does not match. */
public final class CorruptDataException extends StokerException {
    private static final long serialVersionUID = 1L;

    /** What to do about a damaged file. */
    public static final String FILE_ADVICE =
            "restore the file from a copy, or run `stoker verify` on the dataset to see what else is damaged";

    /** @param message names the file (and row and key where there are any), expected, found, and what to do next */
    public CorruptDataException(String message) {
        super(message);
    }

    /**
     * @param message names the file (and row and key where there are any), expected, found, and what to do next
     * @param cause the failure below
     */
    public CorruptDataException(String message, Throwable cause) {
        super(message, cause);
    }

    /**
     * A mismatch in a file.
     *
     * @param file the file's name as the user knows it
     * @param what the part that is wrong, such as {@code "head CRC32C"}
     * @param expected what should stand there
     * @param found what stands there
     */
    public static CorruptDataException mismatch(String file, String what, Object expected, Object found) {
        return mismatch(file, what, expected, found, FILE_ADVICE);
    }

    /**
     * A mismatch in something else than a file.
     *
     * @param where the place as the user knows it
     * @param what the part that is wrong
     * @param expected what should stand there
     * @param found what stands there
     * @param advice what to do next
     */
    public static CorruptDataException mismatch(
            String where, String what, Object expected, Object found, String advice) {
        return new CorruptDataException(
                where + " is corrupt: " + what + ": expected " + expected + ", found " + found + "; " + advice);
    }
}

package dev.stoker.schemas.errors;

import org.jspecify.annotations.Nullable;

/** Thrown when bytes differ from the written bytes: a checksum, a length or an offset does not match. */
public final class CorruptDataException extends StokerException {
    private static final long serialVersionUID = 1L;

    private static final String VERIFY_ADVICE = ", or run `stoker verify` on the dataset to see what else is damaged";

    /** Advice for a damaged file. */
    public static final String FILE_ADVICE = "restore the file from a copy" + VERIFY_ADVICE;

    /** @param message names the file (and row and key, if any), the expected and found values, and the next step */
    public CorruptDataException(String message) {
        super(message);
    }

    /**
     * @param message names the file (and row and key, if any), the expected and found values, and the next step
     * @param cause the cause
     */
    public CorruptDataException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Returns a message without the advice to verify the dataset, for a verification that reports it. */
    public static String withoutVerifyAdvice(String message) {
        return message.replace(VERIFY_ADVICE, "");
    }

    /** Returns a message without the advice for a damaged file, for a place that gives other advice. */
    public static String withoutFileAdvice(String message) {
        return message.replace("; " + FILE_ADVICE, "");
    }

    /**
     * Creates an exception for a mismatch in a file.
     *
     * @param file the file's name as the user knows it
     * @param what the wrong part, such as {@code "head CRC32C"}
     * @param expected the expected value
     * @param found the found value
     */
    public static CorruptDataException mismatch(String file, String what, Object expected, @Nullable Object found) {
        return mismatch(file, what, expected, found, FILE_ADVICE);
    }

    /**
     * Creates an exception for a mismatch outside of files.
     *
     * @param where the place as the user knows it
     * @param what the wrong part
     * @param expected the expected value
     * @param found the found value
     * @param advice the next step
     */
    public static CorruptDataException mismatch(
            String where, String what, Object expected, @Nullable Object found, String advice) {
        return new CorruptDataException(
                where + " is corrupt: " + what + ": expected " + expected + ", found " + found + "; " + advice);
    }
}

package dev.stoker.metadata;

import java.util.Objects;

/**
 * Something that a verification found.
 *
 * @param file as a person would type it
 * @param chunk the chunk's ordinal, -1 if it is about no chunk
 * @param row -1 if it is about no single sample
 * @param key of the sample, empty if it is about no single sample
 * @param message one line that says what is wrong
 */
public record Problem(String file, long chunk, int row, String key, String message) {
    public Problem {
        Objects.requireNonNull(file, "file");
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(message, "message");
    }

    static Problem ofFile(String file, String message) {
        return new Problem(file, -1, -1, "", message);
    }
}

package dev.stoker.metadata.verify;

import dev.stoker.schemas.errors.CorruptDataException;
import java.io.Serializable;
import java.util.Objects;

/**
 * Describes a problem that a verification found.
 *
 * @param file location of the file, as a user would type it
 * @param chunk the chunk's ordinal; -1 if the problem concerns no chunk
 * @param row row of the sample; -1 if the problem concerns no single sample
 * @param key key of the sample; empty if the problem concerns no single sample
 * @param message one line that describes the problem
 */
public record Problem(String file, long chunk, int row, String key, String message) implements Serializable {
    private static final long serialVersionUID = 1;

    public Problem {
        Objects.requireNonNull(file, "file");
        Objects.requireNonNull(key, "key");
        message = CorruptDataException.withoutVerifyAdvice(message);
    }

    static Problem ofFile(String file, String message) {
        return new Problem(file, -1, -1, "", message);
    }
}

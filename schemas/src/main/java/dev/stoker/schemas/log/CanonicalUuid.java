package dev.stoker.schemas.log;

import java.util.UUID;

/**
 * Parses UUIDs. Accepts only lower-case digits in groups of 8, 4, 4, 4 and 12, and rejects other forms that Java would
 * accept.
 */
public final class CanonicalUuid {

    private CanonicalUuid() {}

    /** @throws IllegalArgumentException if the text differs from the result of {@link UUID#toString} */
    public static UUID parse(String text) {
        UUID id = UUID.fromString(text);
        if (!id.toString().equals(text)) {
            throw new IllegalArgumentException("not a UUID in lower-case digits: " + text);
        }
        return id;
    }
}

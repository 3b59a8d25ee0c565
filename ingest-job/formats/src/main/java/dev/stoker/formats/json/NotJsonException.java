package dev.stoker.formats.json;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Thrown when bytes are not one JSON object. The message is a clause. */
public final class NotJsonException extends IOException {
    private static final long serialVersionUID = 1L;

    NotJsonException(String reason, @Nullable IOException cause) {
        super(reason, cause);
    }
}

package dev.stoker.metadata;

import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Says that versions of a dataset may have been expired. Without this sign, readers of an old version do not look for
 * later log entries. It is written before the first version is expired, and never deleted. Normative: {@code
 * docs/formats/dataset.md}, "Expired versions".
 */
public final class ExpirySign {

    private ExpirySign() {}

    /** Writes the sign, unless it exists. */
    public static void leave(ObjectStore store) throws IOException {
        store.createIfAbsent(
                DatasetLayout.EXPIRED, "versions may have been expired\n".getBytes(StandardCharsets.US_ASCII));
    }

    static boolean isThere(ObjectStore store) throws IOException {
        try {
            store.length(DatasetLayout.EXPIRED);
            return true;
        } catch (NoSuchObjectException e) {
            return false;
        }
    }
}

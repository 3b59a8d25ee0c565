package dev.stoker.storage;

import dev.stoker.storage.errors.UnsupportedStoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/** Checks that a store creates one object only once, by creating it twice. */
final class AtomicCreateProbe {

    private AtomicCreateProbe() {}

    static void run(ObjectStore store) throws IOException {
        String name = "_stoker/probes/" + UUID.randomUUID();
        byte[] first = "first".getBytes(StandardCharsets.UTF_8);
        byte[] second = "second".getBytes(StandardCharsets.UTF_8);
        if (!store.createIfAbsent(name, first)) {
            throw new UnsupportedStoreException(store.describe(name)
                    + " is reported to exist, although its name is new; the store cannot hold a dataset");
        }
        boolean twice = store.createIfAbsent(name, second) || !Arrays.equals(store.readAll(name, 100), first);
        store.delete(name);
        if (twice) {
            throw new UnsupportedStoreException("The store created " + store.describe(name)
                    + " twice, the second over the first: it does not support conditional creation (If-None-Match,"
                    + " x-goog-if-generation-match),"
                    + " without which two writers overwrite each other's versions; put the dataset on another store, or"
                    + " upgrade the"
                    + " server");
        }
    }
}

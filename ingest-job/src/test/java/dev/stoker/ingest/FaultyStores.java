package dev.stoker.ingest;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.LocalObjectStore;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Stores of datasets that fail as a test asks for. The cluster runs in this JVM, so deserialized tasks find the test's
 * store here. Thread-safe.
 */
final class FaultyStores {
    private static final Map<String, FaultyObjectStore> STORES = new ConcurrentHashMap<>();

    /** Finds the store that was opened for a dataset. */
    static final DatasetStore OPENED = target -> STORES.get(target);

    private FaultyStores() {}

    /** Opens a new store for a dataset, in place of an earlier one. */
    static FaultyObjectStore open(Path target) {
        FaultyObjectStore store = new FaultyObjectStore(new LocalObjectStore(target));
        STORES.put(target.toString(), store);
        return store;
    }
}

package dev.stoker.server.chunks;

import dev.stoker.storage.ObjectStore;

/** Serves chunks of stores that this machine does not map in place. Thread-safe. */
public interface RemoteChunks {
    /** The chunks of a store. */
    ChunkSource of(ObjectStore store);

    /** Whether it is to serve files of this machine as well, instead of mapping them in place. */
    boolean servesFiles();
}

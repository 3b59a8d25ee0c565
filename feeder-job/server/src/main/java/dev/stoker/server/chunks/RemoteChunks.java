package dev.stoker.server.chunks;

import dev.stoker.storage.ObjectStore;
import java.util.Set;
import java.util.UUID;

/** Serves chunks of stores that this machine does not map in place. Thread-safe. */
public interface RemoteChunks {
    /** The chunks of a store. */
    ChunkSource of(ObjectStore store);

    /** Whether it is to serve files of this machine as well, instead of mapping them in place. */
    boolean servesFiles();

    /** Drops chunks that were erased from their dataset, and removes their files from the tiers. */
    void erase(Set<UUID> chunks);
}

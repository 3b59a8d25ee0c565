package dev.stoker.metadata.compaction;

import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.Collection;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Deletes chunks that a compaction has written and that no version has. */
final class UnusedChunks {

    private static final Logger LOG = LoggerFactory.getLogger(UnusedChunks.class);

    private UnusedChunks() {}

    /** Deletes chunks, also in an interrupted thread. {@code stoker gc} deletes the ones that cannot be deleted now. */
    static void delete(ObjectStore store, Collection<UUID> ids) {
        boolean isInterrupted = Thread.interrupted();
        for (UUID id : ids) {
            try {
                store.delete(ChunkNames.path(id));
            } catch (IOException e) {
                LOG.warn("Unused chunk {} was not deleted: {}", id, e.toString());
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

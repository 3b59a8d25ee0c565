package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells processes that keep copies of chunk files which chunks erasures have deleted. Reads each certificate once.
 * Thread-safe; the monitor of this object guards the ids.
 */
public final class DeletedChunks {

    private static final Logger LOG = LoggerFactory.getLogger(DeletedChunks.class);

    private final ErasureFiles files;
    private final Set<String> seen = new HashSet<>();

    public DeletedChunks(Dataset dataset) {
        this.files = new ErasureFiles(dataset);
    }

    /** Returns the chunks and overlays of the erasures that have finished since the last call. */
    public synchronized Set<UUID> next() throws IOException {
        Set<UUID> chunks = new HashSet<>();
        for (String id : files.ids()) {
            Optional<Erasure> erasure;
            try {
                erasure = seen.contains(id) ? Optional.empty() : files.find(id);
            } catch (StokerException e) {
                // The chunks of the others are known.
                LOG.warn("Copies of chunks that erasure {} has deleted may be kept: {}", id, ErrorText.of(e));
                continue;
            }
            if (erasure.isPresent() && erasure.get().phase() == Erasure.Phase.DONE) {
                chunks.addAll(erasure.get().result().orElseThrow().cached());
                seen.add(id);
            }
        }
        return chunks;
    }
}

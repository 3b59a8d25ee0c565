package dev.stoker.schemas.chunk;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.UUID;

/**
 * Contains the identity of a chunk, as stored in its schema metadata.
 *
 * @param dataset id of the chunk's dataset
 * @param chunk its id, a UUIDv7
 * @param ingest id of the ingest that wrote it
 * @param split its split, not empty
 * @param created creation time, truncated to milliseconds
 * @param overlaid for an overlay, the id of the chunk that it belongs to; {@code chunk} is then the overlay's own id
 */
public record ChunkIdentity(
        UUID dataset, UUID chunk, String ingest, String split, Instant created, Optional<UUID> overlaid) {

    /** Creates the identity of a chunk. */
    public ChunkIdentity(UUID dataset, UUID chunk, String ingest, String split, Instant created) {
        this(dataset, chunk, ingest, split, created, Optional.empty());
    }

    public ChunkIdentity {
        if (ingest.isEmpty() || split.isEmpty()) {
            throw new IllegalArgumentException("ingest '" + ingest + "' and split '" + split + "' must not be empty");
        }
        created = created.truncatedTo(ChronoUnit.MILLIS);
    }
}

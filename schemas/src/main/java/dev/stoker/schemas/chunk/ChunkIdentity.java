package dev.stoker.schemas.chunk;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;

/**
 * What a chunk says about itself in its schema metadata.
 *
 * @param dataset the dataset it belongs to
 * @param chunk its id, a UUIDv7
 * @param ingest the ingest that made it
 * @param split its split, not empty
 * @param created cut to milliseconds
 */
public record ChunkIdentity(UUID dataset, UUID chunk, String ingest, String split, Instant created) {
    public ChunkIdentity {
        if (ingest.isEmpty() || split.isEmpty()) {
            throw new IllegalArgumentException("ingest '" + ingest + "' and split '" + split + "' must not be empty");
        }
        created = created.truncatedTo(ChronoUnit.MILLIS);
    }
}

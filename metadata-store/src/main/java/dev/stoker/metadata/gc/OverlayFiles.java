package dev.stoker.metadata.gc;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.UpdatedChunk;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Says which versions use the files of overlays. A chunk table only has the overlays of its own version. An overlay
 * names its ingest, and the second copy of the ingest's log entry says which version added the overlay.
 */
final class OverlayFiles {

    private OverlayFiles() {}

    /**
     * Returns the version that added an overlay; empty if no log entry names it.
     *
     * @throws dev.stoker.schemas.errors.StokerException if the file is damaged
     * @throws NoSuchObjectException if the file is gone
     */
    static Optional<Long> addedIn(Dataset dataset, String name) throws IOException {
        UUID id = ChunkNames.idOfOverlay(name).orElseThrow();
        String ingest = ChunkReader.open(new ObjectRangeReader(dataset.store(), name))
                .identity()
                .ingest();
        return new VersionCommitter(dataset, InstantSource.system(), "")
                .standing(ingest)
                .filter(entry -> names(entry, id))
                .map(LogEntry::version);
    }

    private static boolean names(LogEntry entry, UUID overlay) {
        return entry.updated().stream()
                .map(UpdatedChunk::overlay)
                .anyMatch(found -> found.id().equals(overlay));
    }

    /**
     * Returns the ids of the listed overlays that only expired versions have.
     *
     * @param olderThan minimum time since the versions were expired
     */
    static Set<UUID> freed(Dataset dataset, List<ObjectInfo> overlays, Duration olderThan, InstantSource clock)
            throws IOException {
        if (dataset.latest().table().expired().isEmpty()) {
            return Set.of();
        }
        List<FreedChunks.Kept> kept = FreedChunks.kept(dataset, olderThan, clock);
        Set<UUID> used = new HashSet<>();
        for (FreedChunks.Kept range : kept) {
            used.addAll(dataset.anySnapshot(range.first()).table().overlays());
        }
        used.addAll(dataset.latest().table().overlays());
        Set<UUID> freed = new HashSet<>();
        for (ObjectInfo overlay : overlays) {
            UUID id = ChunkNames.idOfOverlay(overlay.name()).orElseThrow();
            if (!used.contains(id)) {
                Optional<Long> version;
                try {
                    version = addedIn(dataset, overlay.name());
                } catch (NoSuchObjectException e) {
                    // Another collection has deleted it.
                    continue;
                }
                if (version.isPresent() && kept.stream().noneMatch(range -> range.has(version.get()))) {
                    freed.add(id);
                }
            }
        }
        return freed;
    }
}

package dev.stoker.schemas.dataset;

import dev.stoker.schemas.chunk.ChunkNames;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * What an erasure deletes and changes.
 *
 * @param versions the versions that it concerns
 * @param removed deleted chunk files
 * @param rewritten chunks with the other samples of the deleted ones
 * @param files other deleted or replaced files, relative to the dataset, ascending
 * @param classes classes whose names are replaced
 * @param ended time of the end, in whole milliseconds; empty before all files are deleted
 * @param notReached one line for each kind of copy that the erasure does not reach
 */
public record ErasureResult(
        Versions versions,
        List<ErasedChunk> removed,
        List<UUID> rewritten,
        List<String> files,
        List<ErasedClass> classes,
        Optional<Instant> ended,
        List<String> notReached) {

    /**
     * The versions that an erasure concerns.
     *
     * @param upTo chunks of later versions with the same keys were added after the erasure; at least 1
     * @param newest the newest version after the erasure
     * @param expired all versions with deleted chunks, as ranges {@code 1-7,9-9}; may be empty
     */
    public record Versions(long upTo, long newest, String expired) {
        public Versions {
            Objects.requireNonNull(expired, "expired");
            if (upTo < 1 || newest < upTo) {
                throw new IllegalArgumentException("versions up to " + upTo + " of " + newest);
            }
        }
    }

    public ErasureResult {
        Objects.requireNonNull(versions, "versions");
        removed = List.copyOf(removed);
        rewritten = List.copyOf(rewritten);
        files = List.copyOf(files);
        classes = List.copyOf(classes);
        Objects.requireNonNull(ended, "ended");
        notReached = List.copyOf(notReached);
    }

    /** Returns the ids under which tiers may have copies of deleted files: of chunks, and of overlays. */
    public Set<UUID> cached() {
        Set<UUID> ids = new HashSet<>();
        removed.forEach(chunk -> ids.add(chunk.id()));
        files.forEach(file -> ChunkNames.idOfOverlay(file).ifPresent(ids::add));
        return ids;
    }
}

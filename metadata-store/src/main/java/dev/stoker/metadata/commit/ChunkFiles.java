package dev.stoker.metadata.commit;

import dev.stoker.metadata.ParallelRequests;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.UpdatedChunk;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Checks that chunk files exist before a commit. Sends one request for each chunk: a few microseconds in a local
 * directory. On a remote store, several threads send the requests.
 */
final class ChunkFiles {

    /** Smaller numbers of chunks are checked one after the other. */
    private static final int MANY = 32;

    private ChunkFiles() {}

    /** A file, and the length that it must have. */
    private record Wanted(String name, long length) {}

    /** @throws MissingChunksException if one is missing or has another length */
    static void require(ObjectStore store, String ingest, List<ChunkSummary> chunks) throws IOException {
        requireFiles(
                store,
                ingest,
                chunks.stream()
                        .map(chunk -> new Wanted(ChunkNames.path(chunk.id()), chunk.length()))
                        .toList());
    }

    /** @throws MissingChunksException if an overlay is missing or has another length */
    static void requireOverlays(ObjectStore store, String ingest, List<UpdatedChunk> updated) throws IOException {
        requireFiles(
                store,
                ingest,
                updated.stream()
                        .map(chunk -> new Wanted(
                                ChunkNames.overlayPath(chunk.overlay().id()),
                                chunk.overlay().length()))
                        .toList());
    }

    private static void requireFiles(ObjectStore store, String ingest, List<Wanted> chunks) throws IOException {
        List<String> wrong = new ArrayList<>();
        Wanted first = null;
        if (chunks.size() < MANY || store.localPath(chunks.get(0).name()).isPresent()) {
            for (Wanted chunk : chunks) {
                Optional<String> problem = problem(store, chunk);
                if (problem.isPresent()) {
                    first = first == null ? chunk : first;
                    wrong.add(problem.get());
                }
            }
        } else {
            List<Optional<String>> problems = ParallelRequests.send(
                    chunks, chunk -> problem(store, chunk), "Interrupted before the commit; nothing is committed");
            for (int i = 0; i < problems.size(); i++) {
                if (problems.get(i).isPresent()) {
                    first = first == null ? chunks.get(i) : first;
                    wrong.add(problems.get(i).get());
                }
            }
        }
        if (first != null) {
            throw new MissingChunksException(
                    ingest, store.describe(first.name()), wrong.get(0), wrong.size(), chunks.size());
        }
    }

    private static Optional<String> problem(ObjectStore store, Wanted chunk) throws IOException {
        try {
            long length = store.length(chunk.name());
            return length == chunk.length()
                    ? Optional.empty()
                    : Optional.of("has " + length + " bytes instead of " + chunk.length());
        } catch (NoSuchObjectException e) {
            return Optional.of("is missing");
        }
    }
}

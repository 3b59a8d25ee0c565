package dev.stoker.metadata.index;

import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.errors.CorruptDataException;
import java.io.IOException;
import java.util.Optional;

/**
 * A sample whose chunk has its key in the row that the index names.
 *
 * @param stat the sample
 * @param chunk its chunk
 * @param <C> what the reader knows about a chunk
 */
public record ConfirmedSample<C extends ConfirmedSample.Chunk>(SampleStat stat, C chunk) {

    /** How often a key is looked up again after an index run proved to be damaged. */
    private static final int TRIES = 8;

    /** A chunk whose head was read. */
    public interface Chunk {

        /** Returns the head with the keys. */
        ChunkHead head();
    }

    /** Reads the heads of chunks. */
    public interface Chunks<C extends Chunk> {

        /** Returns the chunk of a sample. */
        C of(SampleStat sample) throws IOException;
    }

    /**
     * Compares a sample with the head of its chunk. If the row has another key, the index stops using the run that
     * named the row, and is asked again.
     *
     * @return empty if the version has no sample with the key
     * @throws CorruptDataException if a head is damaged, or if no run names the right row
     */
    public static <C extends Chunk> Optional<ConfirmedSample<C>> of(
            SampleIndex index, SampleStat named, Chunks<C> chunks) throws IOException {
        SampleStat at = named;
        for (int i = 0; i < TRIES; i++) {
            C chunk = chunks.of(at);
            if (at.row() < chunk.head().rows() && chunk.head().key(at.row()).equals(at.key())) {
                return Optional.of(new ConfirmedSample<>(at, chunk));
            }
            index.refute(at);
            Optional<SampleStat> again = index.stat(at.key());
            if (again.isEmpty()) {
                return Optional.empty();
            }
            at = again.get();
        }
        throw new CorruptDataException(
                "the sample index has no right place for the key '" + named.key() + "'; " + index.howToRebuild());
    }

    /** As {@link #of}, where a reader depends on the sample. */
    public static <C extends Chunk> ConfirmedSample<C> require(SampleIndex index, SampleStat named, Chunks<C> chunks)
            throws IOException {
        return of(index, named, chunks)
                .orElseThrow(() -> new CorruptDataException("the sample index named a place for the key '" + named.key()
                        + "', which the version does not have; " + index.howToRebuild()));
    }
}

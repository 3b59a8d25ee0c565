package dev.stoker.connectors.dataset.source.split;

import java.util.List;
import org.apache.flink.api.connector.source.SourceSplit;

/**
 * A run of chunks of one version, and the position within it.
 *
 * @param version the version of the dataset
 * @param chunks the chunks that are not read completely, at least one
 * @param row the first row of the first chunk that is not emitted
 */
public record ChunkSplit(long version, List<SourceChunk> chunks, int row) implements SourceSplit {
    public ChunkSplit {
        chunks = List.copyOf(chunks);
        if (chunks.isEmpty()) {
            throw new IllegalArgumentException("A split without chunks");
        }
    }

    /** Returns the ordinal of the last chunk, which is in one split only. */
    @Override
    public String splitId() {
        return Long.toString(chunks.get(chunks.size() - 1).ordinal());
    }
}

package dev.stoker.connectors.dataset.source.enumerator;

import dev.stoker.connectors.dataset.source.split.ChunkSplit;
import java.util.List;

/**
 * The state of the enumeration.
 *
 * @param dataset id of the dataset, as text; empty before it is opened
 * @param version the version that is read; 0 before it is chosen
 * @param assigned number of chunks of the version that are assigned
 * @param returned splits of failed readers
 */
public record EnumeratorState(String dataset, long version, int assigned, List<ChunkSplit> returned) {
    public EnumeratorState {
        returned = List.copyOf(returned);
    }
}

package dev.stoker.connectors.dataset.sink.committer;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.metadata.removal.NothingToRemoveException;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The samples that a version of a changed topic replaces or deletes: those whose keys the packing task has named, and
 * those that other writers have committed since under one of its keys. Reads the heads of all chunks if there are such
 * keys. For one thread.
 *
 * @param checked the version whose keys the packing task knew, or a later one of the same ingest
 */
record ChangedRows(Dataset dataset, TopicCommittable version, long checked) implements Removal {

    /** Heads that are read at a time. */
    private static final int THREADS = 8;

    @Override
    public List<RemovedRows> from(Snapshot base) throws IOException {
        Set<String> keys = new HashSet<>(version.removed());
        if (base.version() > checked) {
            for (ChunkSummary chunk : version.chunks()) {
                ChunkHead head = ChunkHeads.read(dataset.store(), chunk);
                for (int row = 0; row < head.rows(); row++) {
                    keys.add(head.key(row));
                }
            }
        }
        if (keys.isEmpty() || base.version() == 0) {
            return List.of();
        }
        SampleRule rule =
                new SampleRule(keys, List.of(), Optional.empty(), Optional.empty(), SampleRule.MissingKeys.IGNORE);
        try {
            return new SampleRemoval(dataset, rule, THREADS, chunks -> {}).from(base);
        } catch (NothingToRemoveException e) {
            return List.of();
        }
    }
}

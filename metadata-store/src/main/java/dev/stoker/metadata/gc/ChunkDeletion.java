package dev.stoker.metadata.gc;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.lease.ProcessLeases;
import dev.stoker.metadata.lease.WriterProcess;
import java.io.IOException;
import java.time.InstantSource;

/**
 * The lease of a collection that deletes chunks. A copy writes and uses chunks under the names that they have at its
 * source, so a chunk that was garbage can become part of a version. This lease exists before the collection looks for
 * copies, and a copy looks for collections after it has taken its own lease: one of the two sees the other.
 */
final class ChunkDeletion implements AutoCloseable {

    private final Dataset dataset;
    private final ProcessLeases collections;
    private final String id;

    private ChunkDeletion(Dataset dataset, ProcessLeases collections, String id) {
        this.dataset = dataset;
        this.collections = collections;
        this.id = id;
    }

    static ChunkDeletion begin(Dataset dataset, InstantSource clock) throws IOException {
        ProcessLeases collections = new ProcessLeases(dataset, ProcessLeases.Kind.COLLECTION);
        collections.releaseEnded();
        return new ChunkDeletion(dataset, collections, collections.take(clock, WriterProcess.user()));
    }

    /**
     * Returns whether no copy runs. Chunks that the log has freed may be deleted if this is called after the log was
     * read: a copy that starts later reads the same log.
     */
    boolean isAllowed() throws IOException {
        return new ProcessLeases(dataset, ProcessLeases.Kind.COPY).all().isEmpty();
    }

    @Override
    public void close() {
        collections.release(id);
    }
}

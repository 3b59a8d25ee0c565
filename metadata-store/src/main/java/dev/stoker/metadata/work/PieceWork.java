package dev.stoker.metadata.work;

import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.Serializable;
import java.util.function.Supplier;

/**
 * Work on a dataset that consists of independent pieces, numbered from 0. It is serialized to the processes that do it.
 * A piece may be done twice if a process fails; only one of the results counts.
 *
 * @param <R> the result of a piece
 */
public interface PieceWork<R extends Serializable> extends Serializable {

    /**
     * Opens what all workers of a process share. Called once in each process.
     *
     * @param store holds the dataset; stays open as long as there are workers
     * @return makes the worker of a thread
     */
    Supplier<? extends PieceWorker<R>> open(ObjectStore store) throws IOException;
}

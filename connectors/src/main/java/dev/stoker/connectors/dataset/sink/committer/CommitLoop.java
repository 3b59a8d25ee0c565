package dev.stoker.connectors.dataset.sink.committer;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.flink.failure.Patience;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.Collection;
import org.apache.flink.api.connector.sink2.Committer.CommitRequest;

/**
 * Commits requests to a dataset one after the other. Each attempt opens the store, so that a retry does not use a store
 * that failed. A final failure ends the job. Runs on the task's thread.
 *
 * @param stores opens the dataset's store
 * @param target the dataset's location
 * @param patience how to retry while the store or a broker is unavailable
 */
record CommitLoop(DatasetStore stores, String target, Patience patience) {

    /** Commits one committable. It can run several times for the same committable and must commit it only once. */
    interface Step<T> {
        void commit(T committable, ObjectStore store) throws IOException;
    }

    <T> void run(Collection<CommitRequest<T>> requests, Step<T> step) throws IOException, InterruptedException {
        for (CommitRequest<T> request : requests) {
            try {
                patience.run("Committing to " + target, () -> {
                    try (ObjectStore store = stores.open(target)) {
                        step.commit(request.getCommittable(), store);
                    }
                });
            } catch (IOException | RuntimeException e) {
                FailureKind.endIfFinal(e);
                throw e;
            }
        }
    }
}

package dev.stoker.connectors.chunks;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Leases;
import dev.stoker.metadata.Removal;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.WriterProcess;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * Commits one version, once however often it is asked to: the commit log knows the ingest's id. Runs on the task's thread.
 */
final class IngestCommitter implements Committer<IngestCommittable> {

    private final IngestRun run;

    IngestCommitter(IngestRun run) {
        this.run = run;
    }

    @Override
    public void commit(Collection<CommitRequest<IngestCommittable>> requests) throws IOException {
        for (CommitRequest<IngestCommittable> request : requests) {
            IngestCommittable committable = request.getCommittable();
            try (ObjectStore store = run.store().open(run.target())) {
                commit(committable, store);
            } catch (StokerException e) {
                // What is typed is final: the same commit would fail again. All else may be worth another attempt.
                throw new SuppressRestartsException(e);
            }
        }
    }

    private void commit(IngestCommittable committable, ObjectStore store) throws IOException {
        Dataset dataset = Dataset.open(store);
        if (!dataset.info().id().toString().equals(run.dataset())) {
            throw new CommitRefusedException("The dataset at " + run.target()
                    + " was created anew while the ingest ran;" + " nothing is committed, run the ingest again");
        }
        if (committable.chunks().isEmpty()) {
            throw new CommitRefusedException("There is no sample to commit: all files were left out "
                    + committable.notes() + "; nothing is committed");
        }
        Map<String, List<String>> classes = new TreeMap<>();
        committable.classes().forEach((field, names) -> classes.put(field, new ArrayList<>(names)));
        Map<String, String> properties = new TreeMap<>(run.properties());
        committable.notes().forEach((name, count) -> properties.put(name, Long.toString(count)));
        properties.putAll(committable.examples());
        boolean isReplacing = run.effect() == IngestRun.Effect.REPLACE;
        new dev.stoker.metadata.Committer(dataset, Clock.systemUTC(), who())
                .commit(new dev.stoker.metadata.CommitRequest(
                        run.ingest(),
                        isReplacing ? Operation.REPLACE : Operation.INGEST,
                        committable.chunks(),
                        removal(committable, dataset),
                        classes,
                        properties));
        new Leases(dataset).release(run.ingest());
    }

    /** Asked for every version that the commit is tried on; refuses those on which it would be wrong. */
    private Removal removal(IngestCommittable committable, Dataset dataset) {
        return switch (run.effect()) {
            case REPLACE -> Removal.EVERYTHING;
            case CREATE -> base -> requireEmpty(base);
            case APPEND -> {
                LateKeys keys = new LateKeys(dataset.store(), committable.chunks(), run.baseVersion());
                yield base -> {
                    keys.check(base);
                    return List.of();
                };
            }
        };
    }

    private List<RemovedRows> requireEmpty(Snapshot base) throws CommitRefusedException {
        if (base.table().size() > 0) {
            throw new CommitRefusedException(
                    "Another ingest has committed version " + base.version() + " of " + run.target()
                            + " meanwhile; nothing is committed, run the ingest again with --append or --replace");
        }
        return List.of();
    }

    static String who() {
        return WriterProcess.user();
    }

    @Override
    public void close() {}
}

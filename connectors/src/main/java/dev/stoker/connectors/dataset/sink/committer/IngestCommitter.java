package dev.stoker.connectors.dataset.sink.committer;

import dev.stoker.connectors.dataset.CommitRefusedException;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.flink.failure.Patience;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Leases;
import dev.stoker.metadata.Removal;
import dev.stoker.metadata.WriterProcess;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.connector.sink2.Committer;

/**
 * Commits one version, and commits it only once even after retries, because the commit log records the ingest's id.
 * Runs on the task's thread.
 */
public final class IngestCommitter implements Committer<IngestCommittable> {

    private final IngestRun run;
    private final CommitLoop loop;

    /** @param patience how to retry while the store is unavailable */
    public IngestCommitter(IngestRun run, Patience patience) {
        this.run = run;
        loop = new CommitLoop(run.store(), run.target(), patience);
    }

    @Override
    public void commit(Collection<CommitRequest<IngestCommittable>> requests) throws IOException, InterruptedException {
        loop.run(requests, this::commit);
    }

    private void commit(IngestCommittable committable, ObjectStore store) throws IOException {
        Dataset dataset = Dataset.open(store);
        if (!dataset.info().id().toString().equals(run.dataset())) {
            throw new CommitRefusedException("The dataset at " + run.target()
                    + " was recreated while the ingest ran; nothing is committed, run the ingest again");
        }
        if (committable.chunks().isEmpty()) {
            throw new CommitRefusedException(
                    "No samples to commit: everything was left out " + committable.notes() + "; nothing is committed");
        }
        Map<String, List<String>> classes = new TreeMap<>();
        committable.classes().forEach((field, names) -> classes.put(field, new ArrayList<>(names)));
        Map<String, String> properties = new TreeMap<>(run.properties());
        committable.notes().forEach((name, count) -> properties.put(name, Long.toString(count)));
        properties.putAll(committable.examples());
        boolean isReplacing = run.effect() == IngestRun.Effect.REPLACE;
        new dev.stoker.metadata.Committer(dataset, Clock.systemUTC(), WriterProcess.user())
                .commit(new dev.stoker.metadata.CommitRequest(
                        run.ingest(),
                        isReplacing ? Operation.REPLACE : Operation.INGEST,
                        committable.chunks(),
                        removal(committable, dataset),
                        classes,
                        properties));
        new Leases(dataset).release(run.ingest());
    }

    /** Called for each version that the commit is tried on. Refuses versions that already have one of the keys. */
    private Removal removal(IngestCommittable committable, Dataset dataset) {
        if (run.effect() == IngestRun.Effect.REPLACE) {
            return Removal.EVERYTHING;
        }
        // The first ingest of a dataset began on an empty dataset. Samples that others appended meanwhile stay, as with
        // an append.
        LateKeys keys = new LateKeys(dataset.store(), committable.chunks(), run.baseVersion());
        return base -> {
            keys.check(base);
            return List.of();
        };
    }

    @Override
    public void close() {}
}

package dev.stoker.connectors.dataset.sink.committer;

import dev.stoker.connectors.dataset.CommitRefusedException;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.NoSamplesException;
import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.dataset.PartIds;
import dev.stoker.connectors.dataset.SampleKeys;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.flink.failure.Patience;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.AddedChunk;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.connector.sink2.Committer;

/**
 * Commits the versions of a run: one, or one for each checkpoint. Commits each only once even after retries, because
 * the commit log records its ingest id. Releases the lease of the run after the last version. Runs on the task's
 * thread.
 */
public final class IngestCommitter implements Committer<IngestCommittable> {

    private final IngestRun run;
    private final SampleKeys keys;
    private final CommitLoop loop;

    /**
     * @param keys the origin of the keys; given keys are compared with versions that others have committed since
     * @param patience how to retry while the store is unavailable
     */
    public IngestCommitter(IngestRun run, SampleKeys keys, Patience patience) {
        this.run = run;
        this.keys = keys;
        loop = new CommitLoop(run.store(), run.target(), patience);
    }

    @Override
    public void commit(Collection<CommitRequest<IngestCommittable>> requests) throws IOException, InterruptedException {
        loop.run(requests, this::commit);
    }

    private void commit(IngestCommittable committable, ObjectStore store) throws IOException {
        IngestCommittable.Part part = committable.part();
        if (committable.chunks().isEmpty() && !part.isOnly()) {
            // The end of a stream. The dataset does not exist if the stream had no record.
            Optional<Dataset> found = part.isLast() ? Dataset.find(store) : Optional.empty();
            found.ifPresent(dataset -> new Leases(dataset).release(PartIds.run(part.ingest())));
            return;
        }
        Dataset dataset = Dataset.open(store);
        if (!dataset.info().id().toString().equals(run.dataset())) {
            throw new CommitRefusedException("The dataset at " + run.target()
                    + " was recreated while the ingest ran; nothing is committed, run the ingest again");
        }
        if (committable.chunks().isEmpty() && committable.removed().isEmpty()) {
            if (isUnchanged(committable)) {
                new Leases(dataset).release(run.ingest());
                return;
            }
            throw new NoSamplesException(noSamples(committable.notes()));
        }
        String ingest = part.isOnly() ? run.ingest() : part.ingest();
        String lease = part.isOnly() ? run.ingest() : PartIds.run(part.ingest());
        Commit commit = new VersionCommit(run, keys).commit(dataset, committable, ingest, lease);
        if (commit.repeated() && !part.isOnly()) {
            requireSame(committable, commit.entry());
        }
        if (part.isLast()) {
            new Leases(dataset).release(lease);
        }
    }

    /**
     * Returns whether a run without a new sample has succeeded: the dataset has all that it should have. So does an
     * append of a source without samples, as of a day without rows; but samples that could not be read are missing.
     */
    private boolean isUnchanged(IngestCommittable committable) {
        boolean isStored = committable.notes().getOrDefault(FileSkip.STORED.note(), 0L) > 0;
        boolean isAppend = run.effect() == IngestRun.Effect.APPEND && run.baseVersion() > 0;
        return run.effect() == IngestRun.Effect.SYNC
                || (isStored && run.onDuplicate().stored() == OnDuplicate.Stored.STAYS)
                || (isAppend
                        && Arrays.stream(FileSkip.values())
                                .filter(reason -> committable.notes().getOrDefault(reason.note(), 0L) > 0)
                                .allMatch(FileSkip::isAsked));
    }

    private String noSamples(Map<String, Long> notes) {
        List<String> reasons = Arrays.stream(FileSkip.values())
                .filter(reason -> notes.getOrDefault(reason.note(), 0L) > 0)
                .map(reason -> reason.text(notes.getOrDefault(reason.note(), 0L)))
                .toList();
        return "No samples to commit: "
                + (reasons.isEmpty() ? "the source has none" : "all were left out, " + String.join(", ", reasons))
                + "; nothing was committed";
    }

    /** A restored stream commits a version again. Another stream under the same id would lose its rows. */
    private void requireSame(IngestCommittable committable, LogEntry entry) throws IOException {
        List<?> there = entry.added().stream().map(AddedChunk::id).toList();
        if (!there.equals(committable.chunks().stream().map(ChunkSummary::id).toList())) {
            throw new CommitRefusedException("Version " + entry.version() + " of " + run.target()
                    + " has the ingest id " + entry.ingest() + " but other chunks; start the job with another ingest"
                    + " id");
        }
    }

    @Override
    public void close() {}
}

package dev.stoker.ingest;

import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.pack.IngestMeter;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.ingest.pack.plan.SyncRule;
import dev.stoker.ingest.pack.sync.SyncChanges;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;

/**
 * The sync: makes the samples of a dataset agree with a tree of files. It is an ingest that packs only new and changed
 * files, and commits one version, or none if nothing has changed.
 */
public final class SyncJob {

    private SyncJob() {}

    /** Returns a launcher that runs the job in this process. */
    public static JobLauncher embedded(SyncOptions options) {
        return IngestJob.embedded(options.ingest());
    }

    /**
     * Runs a sync until its version is committed. An interrupted thread cancels the job.
     *
     * @param launcher runs the job in this process
     * @throws InvalidIngestException if the sync cannot be started with these options
     * @throws dev.stoker.ingest.spec.IngestFailedException if it has failed; it has then left nothing visible
     */
    public static SyncResult run(SyncOptions options, JobLauncher launcher, IngestListener<IngestProgress> listener)
            throws IOException, InterruptedException {
        return run(options, launcher, listener, SampleAccess.BY_LOCATION);
    }

    static SyncResult run(
            SyncOptions options, JobLauncher launcher, IngestListener<IngestProgress> listener, SampleAccess access)
            throws IOException, InterruptedException {
        long began = System.nanoTime();
        IngestOptions ingest = options.ingest();
        SyncRule.Run run = options.rule().run();
        Preparation preparation = Preparation.of(ingest, access.store());
        if (preparation.committed().isPresent()) {
            IngestResult before = IngestJob.before(preparation.committed().get());
            return new SyncResult(before, new SyncChanges(), run);
        }
        if (preparation.base().isNew()) {
            throw new InvalidIngestException(
                    "there is no dataset at " + ingest.target() + "; create it with: stoker ingest "
                            + ShellText.word(ingest.source()) + " " + ShellText.word(ingest.target()));
        }
        String id = IngestJob.id(ingest);
        if (run == SyncRule.Run.REAL) {
            IngestJob.requireAtomicCreate(ingest, access);
            ingest.into(access.store()).lease(preparation.info(), id, launcher.writerProcess());
        }
        IngestPlan plan = preparation.plan(ingest, id, access, options.rule());
        try (IngestMeter meter = IngestMeter.open(id)) {
            IngestResult result = IngestJob.commit(
                    plan.run(), meter, listener, began, () -> IngestJob.start(plan, launcher, listener));
            return new SyncResult(result.with(preparation.sample().keys()), meter.changes(), run);
        }
    }
}

package dev.stoker.ingest;

import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.flink.launch.RunningJob;
import dev.stoker.ingest.pack.IngestMeter;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.ingest.rows.RowIngestGraph;
import dev.stoker.ingest.rows.RowIngestPlan;
import dev.stoker.ingest.rows.RowPreparation;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.rows.pack.HeldRows;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.ingest.spec.IngestTarget;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.NothingToIngestException;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The ingest of files that hold rows: packs the rows into chunks and commits one version. */
public final class RowIngestJob {
    private RowIngestJob() {}

    /** Runs on the cluster that {@code flink run} submits to; detached, it returns when the job is submitted. */
    static void launch(String... args) throws Exception {
        RowIngestOptions options = RowIngestOptions.parse(args);
        if (options.isDry()) {
            plan(options).forEach(System.out::println);
            return;
        }
        try (JobLauncher launcher = JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment())) {
            IngestListener<IngestProgress> listener = new IngestJob.PrintedPlan();
            if (launcher.mode() == JobLauncher.Mode.DETACHED) {
                submit(options, launcher, listener);
            } else {
                run(options, launcher, listener).lines().forEach(System.out::println);
            }
        }
    }

    private static void submit(RowIngestOptions options, JobLauncher launcher, IngestListener<IngestProgress> listener)
            throws IOException, InterruptedException {
        String ingest = id(options);
        RowPreparation preparation;
        try {
            preparation = RowPreparation.of(options, SampleAccess.BY_LOCATION);
        } catch (NothingToIngestException e) {
            nothingNew(options, ingest, e).lines().forEach(System.out::println);
            return;
        }
        if (preparation.committed().isPresent()) {
            IngestJob.before(preparation.committed().get()).lines().forEach(System.out::println);
            return;
        }
        start(preparation.begin(ingest, "").plan(ingest), launcher, listener);
        System.out.println("the ingest continues in the cluster; stoker log " + ShellText.word(options.target())
                + " shows its version");
    }

    /** Returns a launcher that runs the job in this process. */
    public static JobLauncher embedded(RowIngestOptions options) {
        return IngestJob.embedded(options.work().parallelism());
    }

    /**
     * Inspects the source and returns the plan as text, with the first rows; writes nothing.
     *
     * @throws InvalidIngestException if the ingest is not possible
     */
    public static List<String> plan(RowIngestOptions options) throws IOException {
        RowPreparation preparation = RowPreparation.of(options, SampleAccess.BY_LOCATION);
        return preparation.committed().isPresent()
                ? IngestJob.before(preparation.committed().get()).lines()
                : preparation.preview();
    }

    /**
     * Runs an ingest until its version is committed. An interrupted thread cancels the job.
     *
     * @throws InvalidIngestException if the ingest cannot be started with these options
     * @throws IngestFailedException if it has not committed a version; it has then left nothing visible
     */
    public static IngestResult run(
            RowIngestOptions options, JobLauncher launcher, IngestListener<IngestProgress> listener)
            throws IOException, InterruptedException {
        long began = System.nanoTime();
        String ingest = id(options);
        RowPreparation found;
        try {
            found = RowPreparation.of(options, SampleAccess.BY_LOCATION);
        } catch (NothingToIngestException e) {
            return nothingNew(options, ingest, e);
        }
        if (found.committed().isPresent()) {
            return IngestJob.before(found.committed().get());
        }
        RowPreparation preparation = found.begin(ingest, launcher.writerProcess());
        RowIngestPlan plan = preparation.plan(ingest);
        long sortMemoryBytes = launcher.mode() == JobLauncher.Mode.EMBEDDED ? preparation.sortMemoryBytes() : 0;
        HeldRows held = HeldRows.open(ingest, sortMemoryBytes);
        try (IngestMeter meter = IngestMeter.open(ingest)) {
            return IngestJob.commit(
                    plan.run(), meter, new RowListener(listener), began, () -> start(plan, launcher, listener));
        } finally {
            held.close();
        }
    }

    /** Says that rows are read where an ingest of files says that files are listed. */
    private record RowListener(IngestListener<IngestProgress> listener) implements IngestListener<IngestProgress> {
        @Override
        public void started(String ingestId, List<String> plan) {
            listener.started(ingestId, plan);
        }

        @Override
        public void progressed(IngestProgress progress) {
            listener.progressed(progress.ofRows());
        }
    }

    private static IngestResult nothingNew(RowIngestOptions options, String ingest, NothingToIngestException nothing)
            throws IOException {
        IngestTarget target = new IngestTarget(options.target(), SampleAccess.BY_LOCATION.store(), options.effect());
        return IngestJob.nothingNew(target, ingest, nothing);
    }

    private static String id(RowIngestOptions options) {
        return options.ingestId().orElseGet(() -> UUID.randomUUID().toString());
    }

    private static RunningJob start(RowIngestPlan plan, JobLauncher launcher, IngestListener<IngestProgress> listener)
            throws IOException, InterruptedException {
        listener.started(plan.run().ingest(), plan.lines());
        new RowIngestGraph(plan).addTo(launcher.environment());
        return IngestJob.launch(launcher, plan.run().ingest());
    }
}

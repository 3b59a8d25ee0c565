package dev.stoker.ingest;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.NoSamplesException;
import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.flink.embedded.EmbeddedFlink;
import dev.stoker.flink.failure.FailureText;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.flink.launch.JobMain;
import dev.stoker.flink.launch.RunningJob;
import dev.stoker.ingest.pack.IngestMeter;
import dev.stoker.ingest.pack.MissingClasses;
import dev.stoker.ingest.pack.SkipNotes;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.ingest.rows.RowDetection;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.ingest.spec.IngestTarget;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.NothingToIngestException;
import dev.stoker.ingest.topic.TopicIngestJob;
import dev.stoker.ingest.topic.TopicIngestOptions;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.apache.flink.api.common.BatchShuffleMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The ingest: packs the files of a tree into chunks and commits one version. Entry point of the job jar. */
public final class IngestJob {

    private IngestJob() {}

    /** Runs on the cluster that {@code flink run} submits to; detached, it returns when the job is submitted. */
    public static void main(String[] args) throws Exception {
        JobMain.run(() -> runMain(args));
    }

    private static void runMain(String[] args) throws Exception {
        if (TopicIngestOptions.isTopic(args)) {
            TopicIngestJob.main(args);
            return;
        }
        if (RowDetection.isRows(args)) {
            RowIngestJob.launch(args);
            return;
        }
        IngestOptions options = IngestOptions.parse(args);
        if (options.run() == IngestOptions.Run.DRY) {
            plan(options).lines().forEach(System.out::println);
            return;
        }
        IngestListener<IngestProgress> listener = new PrintedPlan();
        try (JobLauncher launcher = JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment())) {
            if (launcher.mode() == JobLauncher.Mode.DETACHED) {
                submit(options, launcher, listener);
            } else {
                run(options, launcher, listener).lines().forEach(System.out::println);
            }
        }
    }

    /** Prints the plan of an ingest on a cluster. */
    static final class PrintedPlan implements IngestListener<IngestProgress> {
        @Override
        public void started(String ingestId, List<String> plan) {
            plan.forEach(System.out::println);
            System.out.println("ingest " + ingestId + " started; if it is interrupted, resume it with" + " --ingest-id "
                    + ingestId);
        }
    }

    private static void submit(IngestOptions options, JobLauncher launcher, IngestListener<IngestProgress> listener)
            throws Exception {
        String ingest = id(options);
        Preparation preparation;
        try {
            preparation = prepare(options, ingest, SampleAccess.BY_LOCATION, launcher);
        } catch (NothingToIngestException e) {
            nothingNew(options.into(SampleAccess.BY_LOCATION.store()), ingest, e)
                    .lines()
                    .forEach(System.out::println);
            return;
        }
        if (preparation.committed().isPresent()) {
            before(preparation.committed().get()).lines().forEach(System.out::println);
            return;
        }
        start(preparation.plan(options, ingest, SampleAccess.BY_LOCATION), launcher, listener);
        System.out.println("the ingest continues in the cluster; stoker log " + ShellText.word(options.target())
                + " shows its version");
    }

    /** Returns a launcher that runs the job in this process. */
    public static JobLauncher embedded(IngestOptions options) {
        return embedded(options.work().parallelism());
    }

    /**
     * Returns a launcher that runs a batch job in this process.
     *
     * @param wanted subtasks; by default one for each processor
     */
    public static JobLauncher embedded(OptionalInt wanted) {
        int parallelism = wanted.orElse(Runtime.getRuntime().availableProcessors());
        Configuration conf = new Configuration();
        conf.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(64L * parallelism));
        conf.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(64));
        conf.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(64));
        // One process: no part of the job can outlive another, so nothing is kept on disk for recovery.
        conf.set(ExecutionOptions.BATCH_SHUFFLE_MODE, BatchShuffleMode.ALL_EXCHANGES_PIPELINED);
        conf.set(JobManagerOptions.SCHEDULER, JobManagerOptions.SchedulerType.Default);
        conf.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        return JobLauncher.embedded(EmbeddedFlink.environment(parallelism, conf));
    }

    /**
     * Inspects the source and returns the plan; writes nothing.
     *
     * @throws InvalidIngestException if the ingest is not possible
     */
    public static IngestPlan plan(IngestOptions options) throws IOException {
        return Preparation.of(options, DatasetStore.BY_LOCATION).plan(options, id(options), SampleAccess.BY_LOCATION);
    }

    /**
     * Runs an ingest until its version is committed. An interrupted thread cancels the job.
     *
     * @throws InvalidIngestException if the ingest cannot be started with these options
     * @throws IngestFailedException if it has not committed a version; it has then left nothing visible
     */
    public static IngestResult run(IngestOptions options, JobLauncher launcher, IngestListener<IngestProgress> listener)
            throws IOException, InterruptedException {
        return run(options, launcher, listener, SampleAccess.BY_LOCATION);
    }

    static IngestResult run(
            IngestOptions options, JobLauncher launcher, IngestListener<IngestProgress> listener, SampleAccess access)
            throws IOException, InterruptedException {
        long began = System.nanoTime();
        String ingest = id(options);
        Preparation preparation;
        try {
            preparation = prepare(options, ingest, access, launcher);
        } catch (NothingToIngestException e) {
            return nothingNew(options.into(access.store()), ingest, e);
        }
        if (preparation.committed().isPresent()) {
            return before(preparation.committed().get());
        }
        IngestPlan plan = preparation.plan(options, ingest, access);
        try (IngestMeter meter = IngestMeter.open(ingest)) {
            return commit(plan.run(), meter, listener, began, () -> start(plan, launcher, listener))
                    .with(preparation.sample().keys());
        }
    }

    /** Starts the job of an ingest. */
    interface Start {
        RunningJob start() throws IOException, InterruptedException;
    }

    /**
     * Runs the job of an ingest until its version is committed.
     *
     * @param run the ingest
     * @param began when the ingest began, by {@link System#nanoTime}
     */
    static IngestResult commit(
            IngestRun run, IngestMeter meter, IngestListener<IngestProgress> listener, long began, Start start)
            throws IOException, InterruptedException {
        String ingest = run.ingest();
        try (ObjectStore store = run.store().open(run.target())) {
            Dataset dataset = Dataset.open(store);
            RunningJob job = start.start();
            try {
                new IngestWatch(listener, meter, began).await(job);
            } catch (InterruptedException e) {
                releaseIfOver(job, e, dataset, ingest);
                throw e;
            } catch (ExecutionException e) {
                releaseIfOver(job, e, dataset, ingest);
                throw failed(ingest, Objects.requireNonNull(e.getCause(), "a failed future has a cause"));
            }
            long ended = System.nanoTime();
            long started = meter.firstTaskNanos() == 0 ? began : meter.firstTaskNanos();
            Duration startUp = Duration.ofNanos(started - began);
            Duration duration = Duration.ofNanos(ended - started);
            Optional<LogEntry> entry = new VersionCommitter(dataset, Clock.systemUTC(), "")
                    .find(ingest)
                    .map(Commit::entry);
            if (entry.isPresent()) {
                return result(
                        entry.get(),
                        IngestResult.Outcome.COMMITTED,
                        startUp,
                        duration,
                        SkippedItems.of(entry.get(), store));
            }
            boolean isAppend = run.effect() == IngestRun.Effect.APPEND && run.baseVersion() > 0;
            if (run.onDuplicate().stored() == OnDuplicate.Stored.REFUSES && !isAppend) {
                throw new IngestFailedException(
                        "The job of ingest " + ingest + " ended without a version; run it again with --ingest-id "
                                + ingest,
                        ingest,
                        null);
            }
            return unchanged(run, startUp, duration, meter.skipped());
        }
    }

    /**
     * Returns the result of an append whose source has no sample, so that a scheduled append succeeds.
     *
     * @throws NothingToIngestException if the dataset has no version yet, or the ingest is no append
     */
    static IngestResult nothingNew(IngestTarget target, String ingest, NothingToIngestException nothing)
            throws IOException {
        if (target.effect() != IngestRun.Effect.APPEND) {
            throw nothing;
        }
        long version = target.inspect(Optional.empty()).version();
        if (version == 0) {
            throw nothing;
        }
        return new IngestResult(
                version,
                ingest,
                IngestResult.Outcome.UNCHANGED,
                0,
                0,
                0,
                0,
                Duration.ZERO,
                Duration.ZERO,
                Map.of(),
                Map.of(),
                new TreeMap<>(),
                Optional.of(String.join("\n", nothing.problems())),
                ExcludedKeys.NONE,
                Optional.empty());
    }

    /** The job has succeeded without a version. A job in other processes leaves no counts behind. */
    private static IngestResult unchanged(IngestRun run, Duration startUp, Duration duration, SkipCounts skipped) {
        Map<FileSkip, String> examples = new EnumMap<>(FileSkip.class);
        for (FileSkip reason : FileSkip.values()) {
            skipped.example(reason).ifPresent(path -> examples.put(reason, path));
        }
        return new IngestResult(
                run.baseVersion(),
                run.ingest(),
                IngestResult.Outcome.UNCHANGED,
                0,
                0,
                0,
                0,
                startUp,
                duration,
                skipped.byReason(),
                examples,
                new TreeMap<>(),
                Optional.empty(),
                ExcludedKeys.NONE,
                Optional.empty());
    }

    static String id(IngestOptions options) {
        return options.ingestId().orElseGet(() -> UUID.randomUUID().toString());
    }

    /**
     * Inspects source and dataset, creates a new dataset, and takes the ingest's lease. Takes no lease if the ingest's
     * version already exists.
     */
    private static Preparation prepare(IngestOptions options, String ingest, SampleAccess access, JobLauncher launcher)
            throws IOException {
        Preparation found = Preparation.of(options, access.store());
        if (found.committed().isPresent()) {
            return found;
        }
        requireAtomicCreate(options, access);
        Preparation created = found.create(options, access.store(), ingest, launcher.writerProcess());
        options.into(access.store()).lease(created.info(), ingest, launcher.writerProcess());
        return created;
    }

    /** Checked before anything is packed: a commit must have exactly one winner. */
    static void requireAtomicCreate(IngestOptions options, SampleAccess access) throws IOException {
        if (Stores.isRemote(options.target())) {
            try (ObjectStore store = access.store().open(options.target())) {
                Stores.requireAtomicCreate(store);
            }
        }
    }

    static RunningJob start(IngestPlan plan, JobLauncher launcher, IngestListener<IngestProgress> listener)
            throws IOException, InterruptedException {
        String ingest = plan.run().ingest();
        listener.started(ingest, plan.lines());
        new IngestGraph(plan).addTo(launcher.environment());
        return launch(launcher, ingest);
    }

    /** Starts the job that was built for an ingest. */
    static RunningJob launch(JobLauncher launcher, String ingest) throws IOException, InterruptedException {
        try {
            return launcher.launch("stoker ingest " + ingest);
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw failed(ingest, e);
        }
    }

    /** Releases the lease if no task can still commit and nothing can have been committed. */
    private static void releaseIfOver(RunningJob job, Throwable failure, Dataset dataset, String ingest) {
        if (!IngestFailedException.mayBeCommitted(failure) && job.isOver()) {
            new Leases(dataset).release(ingest);
        }
    }

    static IngestFailedException failed(String ingest, Throwable failure) {
        boolean isEmpty = IngestFailedException.has(failure, NoSamplesException.class);
        return new IngestFailedException(
                FailureText.of(failure)
                        + (isEmpty
                                ? ""
                                : (IngestFailedException.mayBeCommitted(failure) ? " (" : " (nothing was committed; ")
                                        + "resume with --ingest-id " + ingest + ")"),
                ingest,
                failure);
    }

    static IngestResult before(LogEntry entry) {
        return result(entry, IngestResult.Outcome.COMMITTED_BEFORE, Duration.ZERO, Duration.ZERO, Optional.empty());
    }

    private static IngestResult result(
            LogEntry entry,
            IngestResult.Outcome outcome,
            Duration startUp,
            Duration duration,
            Optional<SkippedItems> items) {
        return new IngestResult(
                entry.version(),
                entry.ingest(),
                outcome,
                entry.addedRows(),
                Long.parseLong(entry.properties().getOrDefault(IngestRun.REPLACED, "0")),
                entry.added().size(),
                entry.added().stream().mapToLong(chunk -> chunk.length()).sum(),
                startUp,
                duration,
                SkipNotes.counts(entry.properties()),
                SkipNotes.examples(entry.properties()),
                MissingClasses.of(entry.properties()),
                Optional.empty(),
                ExcludedKeys.NONE,
                items);
    }
}

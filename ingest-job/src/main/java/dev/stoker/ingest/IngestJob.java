package dev.stoker.ingest;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.flink.embedded.EmbeddedFlink;
import dev.stoker.ingest.pack.IngestMeter;
import dev.stoker.ingest.pack.PackPlan;
import dev.stoker.ingest.pack.SampleAccess;
import dev.stoker.ingest.pack.SkipNotes;
import dev.stoker.ingest.spec.FailureText;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.topic.TopicIngest;
import dev.stoker.ingest.topic.TopicOptions;
import dev.stoker.metadata.Commit;
import dev.stoker.metadata.CommitUnknownException;
import dev.stoker.metadata.Committer;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Leases;
import dev.stoker.metadata.WriterProcess;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import dev.stoker.storage.UnknownOutcomeException;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.BatchShuffleMode;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.BatchExecutionOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/** The ingest: packs the files of a tree into chunks and commits one version. Entry point of the job jar. */
public final class IngestJob {

    private static final long PROGRESS_MS = 500;

    private IngestJob() {}

    /** Runs on the cluster that {@code flink run} submits to; detached, it returns when the job is submitted. */
    public static void main(String[] args) throws Exception {
        if (TopicOptions.isTopic(args)) {
            TopicIngest.main(args);
            return;
        }
        IngestOptions options = IngestOptions.parse(args);
        if (options.run() == IngestOptions.Run.DRY) {
            plan(options).lines().forEach(System.out::println);
            return;
        }
        IngestListener listener = new IngestListener() {
            @Override
            public void started(String ingestId, IngestPlan plan) {
                plan.lines().forEach(System.out::println);
                System.out.println("ingest " + ingestId + " started; if it is interrupted, resume it with"
                        + " --ingest-id " + ingestId);
            }
        };
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        if (env.getConfiguration().get(DeploymentOptions.ATTACHED)) {
            run(options, env, listener).lines().forEach(System.out::println);
        } else {
            submit(options, env, listener);
        }
    }

    private static void submit(IngestOptions options, StreamExecutionEnvironment env, IngestListener listener)
            throws Exception {
        String ingest = id(options);
        Preparation preparation = prepare(options, ingest, listener, SampleAccess.BY_LOCATION, "");
        if (preparation.committed().isPresent()) {
            before(preparation.committed().get()).lines().forEach(System.out::println);
            return;
        }
        try (ObjectStore store = Stores.open(options.target())) {
            build(env, options, preparation, ingest, SampleAccess.BY_LOCATION, Dataset.open(store));
        }
        env.executeAsync(name(ingest));
        System.out.println(
                "the ingest continues in the cluster; stoker log " + options.target() + " shows its version");
    }

    /** Returns an environment that runs the job in this process. */
    public static StreamExecutionEnvironment embedded(IngestOptions options) {
        int parallelism =
                options.work().parallelism().orElse(Runtime.getRuntime().availableProcessors());
        Configuration conf = new Configuration();
        conf.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(64L * parallelism));
        conf.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(64));
        conf.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(64));
        // One process: no part of the job can outlive another, so nothing is kept on disk for recovery.
        conf.set(ExecutionOptions.BATCH_SHUFFLE_MODE, BatchShuffleMode.ALL_EXCHANGES_PIPELINED);
        conf.set(JobManagerOptions.SCHEDULER, JobManagerOptions.SchedulerType.Default);
        conf.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        return EmbeddedFlink.environment(parallelism, conf);
    }

    /**
     * Inspects the source and returns the plan; writes nothing.
     *
     * @throws InvalidIngestException if the ingest is not possible
     */
    public static IngestPlan plan(IngestOptions options) throws IOException {
        return PlanText.of(options, Preparation.of(options, DatasetStore.BY_LOCATION));
    }

    /**
     * Runs an ingest until its version is committed. An interrupted thread cancels the job.
     *
     * @throws InvalidIngestException if the ingest cannot be started with these options
     * @throws IngestFailedException if it has not committed a version; it has then left nothing visible
     */
    public static IngestResult run(IngestOptions options, StreamExecutionEnvironment env, IngestListener listener)
            throws IOException, InterruptedException {
        return run(options, env, listener, SampleAccess.BY_LOCATION);
    }

    static IngestResult run(
            IngestOptions options, StreamExecutionEnvironment env, IngestListener listener, SampleAccess access)
            throws IOException, InterruptedException {
        long began = System.nanoTime();
        String ingest = id(options);
        Preparation preparation =
                prepare(options, ingest, listener, access, isInThisProcess(env) ? WriterProcess.current() : "");
        if (preparation.committed().isPresent()) {
            return before(preparation.committed().get());
        }
        try (IngestMeter meter = IngestMeter.open(ingest);
                ObjectStore store = access.store().open(options.target())) {
            Dataset dataset = Dataset.open(store);
            build(env, options, preparation, ingest, access, dataset);
            await(env, ingest, listener, meter, began, () -> new Leases(dataset).release(ingest));
            long ended = System.nanoTime();
            long started = meter.firstTaskNanos() == 0 ? began : meter.firstTaskNanos();
            LogEntry entry = new Committer(dataset, Clock.systemUTC(), "")
                    .find(ingest)
                    .map(Commit::entry)
                    .orElseThrow(() -> new IngestFailedException(
                            "The job of ingest " + ingest + " ended without a version; run it again with --ingest-id "
                                    + ingest,
                            ingest,
                            null));
            return result(entry, false, Duration.ofNanos(started - began), Duration.ofNanos(ended - started));
        }
    }

    private static String id(IngestOptions options) {
        return options.ingestId().orElseGet(() -> UUID.randomUUID().toString());
    }

    private static String name(String ingest) {
        return "stoker ingest " + ingest;
    }

    private static boolean isInThisProcess(StreamExecutionEnvironment env) {
        return env instanceof LocalStreamEnvironment;
    }

    /** Whether no task can still commit and nothing can have been committed. */
    private static boolean isOver(StreamExecutionEnvironment env, @Nullable JobClient client, Throwable failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (t instanceof CommitUnknownException || t instanceof UnknownOutcomeException) {
                return false;
            }
        }
        if (client == null) {
            return false;
        }
        try {
            return client.getJobStatus().get(10, TimeUnit.SECONDS).isGloballyTerminalState();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException | TimeoutException | RuntimeException e) {
            // A cluster in this process ends with its job.
            return isInThisProcess(env);
        }
    }

    /**
     * Inspects source and dataset, creates a new dataset, and takes the ingest's lease. Takes no lease if the ingest's
     * version already exists.
     */
    private static Preparation prepare(
            IngestOptions options, String ingest, IngestListener listener, SampleAccess access, String process)
            throws IOException {
        Preparation found = Preparation.of(options, access.store());
        if (found.committed().isPresent()) {
            return found;
        }
        requireAtomicCreate(options, access);
        Preparation created = found.create(options, access.store());
        created.lease(options, access.store(), ingest, process);
        listener.started(ingest, PlanText.of(options, created));
        return created;
    }

    private static void build(
            StreamExecutionEnvironment env,
            IngestOptions options,
            Preparation preparation,
            String ingest,
            SampleAccess access,
            Dataset dataset)
            throws IOException {
        int parallelism = options.work().parallelism().orElse(env.getParallelism());
        configure(env);
        graph(options, preparation, ingest, parallelism, access, dataset).addTo(env);
    }

    /** Checked before anything is packed: a commit must have exactly one winner. */
    private static void requireAtomicCreate(IngestOptions options, SampleAccess access) throws IOException {
        if (Stores.isRemote(options.target())) {
            try (ObjectStore store = access.store().open(options.target())) {
                Stores.requireAtomicCreate(store);
            }
        }
    }

    private static IngestGraph graph(
            IngestOptions options,
            Preparation preparation,
            String ingest,
            int parallelism,
            SampleAccess access,
            Dataset dataset)
            throws IOException {
        PackPlan plan = new PackPlan(
                options.tree(),
                options.order(),
                options.target(),
                preparation.info().encode(),
                ingest,
                System.currentTimeMillis(),
                preparation.content(),
                options.content()
                        .label()
                        .map(rule -> new PackPlan.Label(rule, options.content().labelField()))
                        .orElse(null),
                new ArrayList<>(options.content().sidecars()),
                preparation.splitRule(),
                preparation.chunkSizeBytes(options),
                options.work().readThreads(),
                options.work().readAhead(),
                access);
        Map<String, String> properties = new TreeMap<>();
        properties.put("source", options.source());
        IngestRun run = new IngestRun(
                access.store(),
                options.target(),
                preparation.info().id().toString(),
                ingest,
                preparation.effect(options),
                preparation.baseVersion(),
                properties);
        boolean isAppend = options.mode() == IngestOptions.Mode.APPEND && preparation.baseVersion() > 0;
        long taken =
                isAppend ? dataset.snapshot(preparation.baseVersion()).table().size() : 0;
        return new IngestGraph(plan, run, parallelism, options.walk().limit(), taken);
    }

    private static void configure(StreamExecutionEnvironment env) {
        env.setRuntimeMode(RuntimeExecutionMode.BATCH);
        env.getConfig().enableObjectReuse();
        Configuration own = new Configuration();
        own.set(PipelineOptions.GENERIC_TYPES, false);
        // Plans are cut by the number of tasks, so Flink must not change it later.
        own.set(BatchExecutionOptions.ADAPTIVE_AUTO_PARALLELISM_ENABLED, false);
        if (!env.getConfiguration()
                .getOptional(RestartStrategyOptions.RESTART_STRATEGY)
                .isPresent()) {
            own.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
            own.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_ATTEMPTS, 10);
        }
        env.configure(own);
    }

    private static void await(
            StreamExecutionEnvironment env,
            String ingest,
            IngestListener listener,
            IngestMeter meter,
            long began,
            Runnable release)
            throws IOException, InterruptedException {
        JobClient client = null;
        try {
            client = env.executeAsync(name(ingest));
            CompletableFuture<?> end = client.getJobExecutionResult();
            while (true) {
                try {
                    end.get(PROGRESS_MS, TimeUnit.MILLISECONDS);
                    return;
                } catch (TimeoutException e) {
                    report(listener, meter, began);
                }
            }
        } catch (InterruptedException e) {
            cancel(client, e);
            if (isOver(env, client, e)) {
                release.run();
            }
            throw e;
        } catch (ExecutionException e) {
            if (isOver(env, client, e)) {
                release.run();
            }
            throw failed(ingest, Objects.requireNonNull(e.getCause(), "a failed job has a cause"));
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw failed(ingest, e);
        }
    }

    private static void cancel(@Nullable JobClient client, InterruptedException interrupt) {
        if (client == null) {
            return;
        }
        try {
            client.cancel().get(30, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            interrupt.addSuppressed(e);
        } catch (InterruptedException e) {
            // A second interrupt: the process ends, and the job with it.
            interrupt.addSuppressed(e);
        }
    }

    private static IngestFailedException failed(String ingest, Throwable failure) {
        return new IngestFailedException(
                FailureText.of(failure) + " (nothing was committed; resume with --ingest-id " + ingest + ")",
                ingest,
                failure);
    }

    private static void report(IngestListener listener, IngestMeter meter, long began) {
        if (meter.firstTaskNanos() == 0) {
            listener.progressed(new IngestProgress(
                    IngestProgress.Phase.STARTING, 0, 0, 0, 0, 0, Duration.ofNanos(System.nanoTime() - began)));
            return;
        }
        boolean isPacking = meter.firstPackNanos() != 0;
        IngestProgress.Phase phase = !isPacking
                ? IngestProgress.Phase.LISTING
                : meter.bytes() < meter.listedBytes() ? IngestProgress.Phase.PACKING : IngestProgress.Phase.COMMITTING;
        long since = isPacking ? meter.firstPackNanos() : meter.firstTaskNanos();
        listener.progressed(new IngestProgress(
                phase,
                meter.listedFiles(),
                meter.listedBytes(),
                meter.samples(),
                meter.bytes(),
                meter.chunks(),
                Duration.ofNanos(System.nanoTime() - since)));
    }

    private static IngestResult before(LogEntry entry) {
        return result(entry, true, Duration.ZERO, Duration.ZERO);
    }

    private static IngestResult result(LogEntry entry, boolean isBefore, Duration startUp, Duration duration) {
        return new IngestResult(
                entry.version(),
                entry.ingest(),
                isBefore ? IngestResult.Outcome.COMMITTED_BEFORE : IngestResult.Outcome.COMMITTED,
                entry.addedRows(),
                entry.added().size(),
                entry.added().stream().mapToLong(chunk -> chunk.length()).sum(),
                startUp,
                duration,
                SkipNotes.counts(entry.properties()),
                SkipNotes.examples(entry.properties()));
    }
}

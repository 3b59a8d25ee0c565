package dev.stoker.ingest.topic;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.RunTotals;
import dev.stoker.connectors.dataset.TopicChunkSink;
import dev.stoker.connectors.dataset.TopicMeter;
import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.connectors.dataset.TopicReportSerializer;
import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.connectors.kafka.KafkaSources;
import dev.stoker.connectors.kafka.SourceTopic;
import dev.stoker.flink.failure.RestartLimit;
import dev.stoker.ingest.spec.FailureText;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Leases;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.WriterProcess;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * An ingest of a topic: a streaming job that commits a version for each checkpoint.
 *
 * <pre>
 * topic (p) → pack (p) ── commit (1)
 * </pre>
 */
public final class TopicIngest {

    /** The time limit for checking the topic after the job has failed. */
    private static final Duration POST_MORTEM = Duration.ofSeconds(5);

    private TopicIngest() {}

    /** Runs on the cluster that {@code flink run} submits to; entry point of the job jar for topics. */
    public static void main(String... args) throws Exception {
        TopicOptions options = TopicOptions.parse(args);
        if (options.isDryRun()) {
            plan(options).forEach(System.out::println);
            return;
        }
        TopicIngestListener listener = new TopicIngestListener() {
            @Override
            public void started(List<String> plan) {
                plan.forEach(System.out::println);
            }
        };
        try (SubmittedTopicJob job = new SubmittedTopicJob(StreamExecutionEnvironment.getExecutionEnvironment())) {
            if (job.isDetached()) {
                Built built = build(options, job, listener, UUID.randomUUID().toString());
                job.submit(built.name());
                System.out.println("the ingest continues in the cluster; flink stop ends it with a last version");
            } else {
                run(options, job, listener, () -> false).lines().forEach(System.out::println);
            }
        }
    }

    /** A job that is ready to start. */
    private record Built(String name, TopicPreparation preparation, int tasks) {}

    /**
     * Inspects topic and dataset and returns the plan; writes nothing.
     *
     * @throws dev.stoker.ingest.spec.InvalidIngestException if the ingest is not possible
     */
    public static List<String> plan(TopicOptions options) throws IOException {
        return TopicPlanText.of(options, TopicPreparation.of(options, DatasetStore.BY_LOCATION));
    }

    /**
     * Runs an ingest until it ends or is asked to stop. An interrupted thread cancels the job.
     *
     * @param stop whether to stop cleanly, with a last version
     * @throws dev.stoker.ingest.spec.InvalidIngestException if the ingest cannot be started with these options
     * @throws IngestFailedException if it failed; committed versions stay
     */
    public static TopicResult run(
            TopicOptions options, TopicJob job, TopicIngestListener listener, BooleanSupplier stop)
            throws IOException, InterruptedException {
        long began = System.nanoTime();
        String run = UUID.randomUUID().toString();
        try (TopicMeter meter = TopicMeter.open(run)) {
            Built built = build(options, job, listener, run);
            TopicPreparation preparation = built.preparation;
            try (TopicWatch watch = new TopicWatch(options, preparation, meter, built.tasks)) {
                watch.await(job, listener, stop, built.name);
            } catch (ExecutionException e) {
                throw failed(
                        options, preparation, run, Objects.requireNonNull(e.getCause(), "a failed job has a cause"));
            }
            // The job has ended: its chunks are committed. After a failure, a savepoint may still contain a commit.
            try (ObjectStore store = DatasetStore.BY_LOCATION.open(options.target())) {
                new Leases(Dataset.open(store)).release(run);
            }
            return result(options, preparation, run, meter, Duration.ofNanos(System.nanoTime() - began));
        }
    }

    /** Inspects topic and dataset, creates a new dataset, and builds the job. */
    private static Built build(TopicOptions options, TopicJob job, TopicIngestListener listener, String run)
            throws IOException {
        DatasetStore stores = DatasetStore.BY_LOCATION;
        if (options.reach().until() == TopicOptions.Until.LATEST
                && job.environment()
                        .getConfiguration()
                        .getOptional(StateRecoveryOptions.SAVEPOINT_PATH)
                        .isPresent()) {
            // The savepoint's end offsets, or their absence, would override the option.
            throw new InvalidIngestException(
                    "option --until cannot be given with a savepoint; start without the savepoint,"
                            + " the dataset knows the position");
        }
        TopicPreparation preparation = TopicPreparation.of(options, stores);
        try (ObjectStore store = stores.open(options.target())) {
            Stores.requireAtomicCreate(store);
        }
        preparation = preparation.create(options, stores);
        try (ObjectStore store = stores.open(options.target())) {
            new Leases(Dataset.open(store)).take(run, Clock.systemUTC(), WriterProcess.user(), "");
        }
        listener.started(TopicPlanText.of(options, preparation));
        int tasks = tasks(options, preparation, job.environment());
        configure(job.environment(), options.work().commitInterval());
        build(job.environment(), options, preparation, run, tasks);
        return new Built("stoker ingest " + options.topic().topic(), preparation, tasks);
    }

    /** More tasks than partitions would be idle. If keys are the records' own, one task must see all of them. */
    private static int tasks(TopicOptions options, TopicPreparation preparation, StreamExecutionEnvironment env) {
        if (options.mapping().keys() == TopicRun.Keys.RECORDS) {
            return 1;
        }
        int wanted = options.work().parallelism().orElse(env.getParallelism());
        return Math.max(1, Math.min(wanted, preparation.shape().partitions()));
    }

    private static void configure(StreamExecutionEnvironment env, Duration interval) {
        Configuration own = new Configuration();
        own.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.STREAMING);
        own.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, interval);
        own.set(CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE, CheckpointingMode.EXACTLY_ONCE);
        own.set(CheckpointingOptions.ENABLE_UNALIGNED, false);
        own.set(CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH, true);
        own.set(JobManagerOptions.SCHEDULER, JobManagerOptions.SchedulerType.Default);
        own.set(PipelineOptions.GENERIC_TYPES, false);
        env.configure(own);
        RestartLimit.set(env);
        // Records are immutable.
        env.getConfig().enableObjectReuse();
    }

    private static void build(
            StreamExecutionEnvironment env, TopicOptions options, TopicPreparation preparation, String run, int tasks)
            throws IOException {
        TopicPlan plan = new TopicPlan(
                options.topic(),
                preparation.shape().id(),
                new TopicPlan.Place(
                        DatasetStore.BY_LOCATION,
                        options.target(),
                        preparation.info().encode(),
                        preparation.state().baseVersion(),
                        run),
                preparation.value(),
                options.mapping(),
                preparation.splitRule(),
                preparation.chunkSizeBytes(options),
                new TopicPlan.Letters(
                        options.deadLetters().location(), options.deadLetters().most()));
        TopicRun.Limits limits = new TopicRun.Limits(
                new TopicGuard(options.topic(), preparation.shape().id()),
                options.mapping().keys(),
                preparation.state().baseVersion(),
                options.deadLetters().most());
        TopicRun streamRun = new TopicRun(
                DatasetStore.BY_LOCATION,
                options.target(),
                preparation.info().id().toString(),
                run,
                preparation.committed(),
                new TreeMap<>(preparation.start()),
                limits);
        boolean isBounded = options.reach().until() == TopicOptions.Until.LATEST;
        env.setMaxParallelism(Math.max(128, tasks));
        TopicChunkSink.addTo(
                env.fromSource(
                                KafkaSources.create(
                                        options.topic(),
                                        preparation.start(),
                                        isBounded ? Optional.of(preparation.end()) : Optional.empty()),
                                WatermarkStrategy.noWatermarks(),
                                "topic " + options.topic().topic())
                        .uid("topic")
                        .setParallelism(tasks)
                        .transform("pack", TopicReportSerializer.TYPE, new TopicPackOperator(plan))
                        .uid("pack")
                        .setParallelism(tasks),
                streamRun);
    }

    private static IngestFailedException failed(
            TopicOptions options, TopicPreparation preparation, String run, Throwable failure) {
        String text = FailureText.of(failure);
        // A consumer's error about a recreated topic does not show the cause.
        try (SourceTopic topic = new SourceTopic(options.topic(), POST_MORTEM)) {
            String found = topic.shape().id();
            if (!found.equals(preparation.shape().id())) {
                text = new OtherTopicException(
                                options.topic(), preparation.shape().id(), found)
                        .getMessage();
            }
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
        return new IngestFailedException(
                text + " (committed versions stay; the same command resumes after them)", run, failure);
    }

    private static TopicResult result(
            TopicOptions options, TopicPreparation preparation, String run, TopicMeter meter, Duration duration)
            throws IOException {
        try (ObjectStore store = DatasetStore.BY_LOCATION.open(options.target())) {
            Dataset dataset = Dataset.open(store);
            Snapshot newest = dataset.latest();
            String topic = options.topic().topic();
            long last = lastVersion(preparation, meter, newest.table().topicVersion(topic));
            RunTotals totals = last == 0 ? RunTotals.NONE : RunTotals.of(dataset.entry(last, newest.version()), run);
            return new TopicResult(
                    totals.versions(),
                    totals.versions() == 0 ? 0 : last,
                    totals.samples(),
                    totals.bytes(),
                    new TopicResult.DeadLetterCount(
                            Math.max(totals.deadLetters(), meter.deadLetters()),
                            options.deadLetters().location()),
                    TopicPosition.find(dataset, newest, topic),
                    duration);
        }
    }

    /** The newest version that the run may have committed; 0 for none. Its totals hold all that the run has done. */
    private static long lastVersion(TopicPreparation preparation, TopicMeter meter, OptionalLong ofTopic) {
        // A job in another process has no meter here.
        long version = meter.newestVersion() > 0 ? meter.newestVersion() : ofTopic.orElse(0);
        return version > preparation.state().baseVersion() ? version : 0;
    }
}

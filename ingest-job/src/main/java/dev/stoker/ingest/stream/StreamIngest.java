package dev.stoker.ingest.stream;

import dev.stoker.connectors.chunks.DatasetStore;
import dev.stoker.connectors.chunks.RunTotals;
import dev.stoker.connectors.chunks.StreamChunkSink;
import dev.stoker.connectors.chunks.StreamMeter;
import dev.stoker.connectors.chunks.StreamReportSerializer;
import dev.stoker.connectors.chunks.StreamRun;
import dev.stoker.connectors.chunks.TopicPosition;
import dev.stoker.connectors.failure.RestartLimit;
import dev.stoker.connectors.kafka.KafkaSources;
import dev.stoker.connectors.kafka.SourceTopic;
import dev.stoker.ingest.FailureText;
import dev.stoker.ingest.IngestFailedException;
import dev.stoker.ingest.InvalidIngestException;
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
public final class StreamIngest {

    /** The time limit for checking the topic after the job has failed. */
    private static final Duration POST_MORTEM = Duration.ofSeconds(5);

    private StreamIngest() {}

    /** Runs on the cluster that {@code flink run} submits to; entry point of the job jar for topics. */
    public static void main(String... args) throws Exception {
        StreamOptions options = StreamOptions.parse(args);
        if (options.isDryRun()) {
            plan(options).forEach(System.out::println);
            return;
        }
        StreamListener listener = new StreamListener() {
            @Override
            public void started(List<String> plan) {
                plan.forEach(System.out::println);
            }
        };
        try (SubmittedStreamJob job = new SubmittedStreamJob(StreamExecutionEnvironment.getExecutionEnvironment())) {
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
    private record Built(String name, StreamPreparation preparation, int tasks) {}

    /**
     * Inspects topic and dataset and returns the plan; writes nothing.
     *
     * @throws dev.stoker.ingest.InvalidIngestException if the ingest is not possible
     */
    public static List<String> plan(StreamOptions options) throws IOException {
        return StreamPlanText.of(options, StreamPreparation.of(options, DatasetStore.BY_LOCATION));
    }

    /**
     * Runs an ingest until it ends or is asked to stop. An interrupted thread cancels the job.
     *
     * @param stop whether to stop cleanly, with a last version
     * @throws dev.stoker.ingest.InvalidIngestException if the ingest cannot be started with these options
     * @throws IngestFailedException if it failed; committed versions stay
     */
    public static StreamResult run(StreamOptions options, StreamJob job, StreamListener listener, BooleanSupplier stop)
            throws IOException, InterruptedException {
        long began = System.nanoTime();
        String run = UUID.randomUUID().toString();
        try (StreamMeter meter = StreamMeter.open(run)) {
            Built built = build(options, job, listener, run);
            StreamPreparation preparation = built.preparation;
            try (StreamWatch watch = new StreamWatch(options, preparation, meter, built.tasks)) {
                watch.await(job, listener, stop, built.name);
            } catch (ExecutionException e) {
                throw failed(options, preparation, run, e.getCause());
            }
            // The job has ended: its chunks are committed. After a failure, a savepoint may still contain a commit.
            try (ObjectStore store = DatasetStore.BY_LOCATION.open(options.target())) {
                new Leases(Dataset.open(store)).release(run);
            }
            return result(options, preparation, run, meter, Duration.ofNanos(System.nanoTime() - began));
        }
    }

    /** Inspects topic and dataset, creates a new dataset, and builds the job. */
    private static Built build(StreamOptions options, StreamJob job, StreamListener listener, String run)
            throws IOException {
        DatasetStore stores = DatasetStore.BY_LOCATION;
        if (options.reach().until() == StreamOptions.Until.LATEST
                && job.environment()
                        .getConfiguration()
                        .getOptional(StateRecoveryOptions.SAVEPOINT_PATH)
                        .isPresent()) {
            // The savepoint's end offsets, or their absence, would override the option.
            throw new InvalidIngestException(
                    "option --until cannot be given with a savepoint; start without the savepoint,"
                            + " the dataset knows the position");
        }
        StreamPreparation preparation = StreamPreparation.of(options, stores);
        try (ObjectStore store = stores.open(options.target())) {
            Stores.requireAtomicCreate(store);
        }
        preparation = preparation.create(options, stores);
        try (ObjectStore store = stores.open(options.target())) {
            new Leases(Dataset.open(store)).take(run, Clock.systemUTC(), WriterProcess.user(), "");
        }
        listener.started(StreamPlanText.of(options, preparation));
        int tasks = tasks(options, preparation, job.environment());
        configure(job.environment(), options.work().commitInterval());
        build(job.environment(), options, preparation, run, tasks);
        return new Built("stoker ingest " + options.topic().topic(), preparation, tasks);
    }

    /** More tasks than partitions would be idle. If keys are the records' own, one task must see all of them. */
    private static int tasks(StreamOptions options, StreamPreparation preparation, StreamExecutionEnvironment env) {
        if (options.mapping().keys() == StreamRun.Keys.RECORDS) {
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
            StreamExecutionEnvironment env, StreamOptions options, StreamPreparation preparation, String run, int tasks)
            throws IOException {
        StreamPlan plan = new StreamPlan(
                options.topic(),
                preparation.shape().id(),
                new StreamPlan.Place(
                        DatasetStore.BY_LOCATION,
                        options.target(),
                        preparation.info().encode(),
                        preparation.state().baseVersion(),
                        run),
                preparation.value(),
                options.mapping(),
                preparation.splitRule(),
                preparation.chunkSizeBytes(options),
                new StreamPlan.Letters(
                        options.deadLetters().location(), options.deadLetters().most()));
        StreamRun.Limits limits = new StreamRun.Limits(
                new TopicGuard(options.topic(), preparation.shape().id()),
                options.mapping().keys(),
                preparation.state().baseVersion(),
                options.deadLetters().most());
        StreamRun streamRun = new StreamRun(
                DatasetStore.BY_LOCATION,
                options.target(),
                preparation.info().id().toString(),
                run,
                preparation.committed(),
                new TreeMap<>(preparation.start()),
                limits);
        boolean isBounded = options.reach().until() == StreamOptions.Until.LATEST;
        env.setMaxParallelism(Math.max(128, tasks));
        StreamChunkSink.addTo(
                env.fromSource(
                                KafkaSources.create(
                                        options.topic(),
                                        preparation.start(),
                                        isBounded ? Optional.of(preparation.end()) : Optional.empty()),
                                WatermarkStrategy.noWatermarks(),
                                "topic " + options.topic().topic())
                        .uid("topic")
                        .setParallelism(tasks)
                        .transform("pack", StreamReportSerializer.TYPE, new StreamPackOperator(plan))
                        .uid("pack")
                        .setParallelism(tasks),
                streamRun);
    }

    private static IngestFailedException failed(
            StreamOptions options, StreamPreparation preparation, String run, Throwable failure) {
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

    private static StreamResult result(
            StreamOptions options, StreamPreparation preparation, String run, StreamMeter meter, Duration duration)
            throws IOException {
        try (ObjectStore store = DatasetStore.BY_LOCATION.open(options.target())) {
            Dataset dataset = Dataset.open(store);
            Snapshot newest = dataset.latest();
            String topic = options.topic().topic();
            long last = lastVersion(preparation, meter, newest.table().topicVersion(topic));
            RunTotals totals = last == 0 ? RunTotals.NONE : RunTotals.of(dataset.entry(last, newest.version()), run);
            return new StreamResult(
                    totals.versions(),
                    totals.versions() == 0 ? 0 : last,
                    totals.samples(),
                    totals.bytes(),
                    new StreamResult.DeadLetterCount(
                            Math.max(totals.deadLetters(), meter.deadLetters()),
                            options.deadLetters().location()),
                    TopicPosition.find(dataset, newest, topic),
                    duration);
        }
    }

    /** The newest version that the run may have committed; 0 for none. Its totals hold all that the run has done. */
    private static long lastVersion(StreamPreparation preparation, StreamMeter meter, OptionalLong ofTopic) {
        // A job in another process has no meter here.
        long version = meter.newestVersion() > 0 ? meter.newestVersion() : ofTopic.orElse(0);
        return version > preparation.state().baseVersion() ? version : 0;
    }
}

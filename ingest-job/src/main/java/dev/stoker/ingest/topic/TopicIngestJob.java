package dev.stoker.ingest.topic;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.IngestTotals;
import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.connectors.kafka.source.SourceTopic;
import dev.stoker.flink.failure.FailureText;
import dev.stoker.flink.launch.ClusterLauncher;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.flink.launch.JobMain;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The ingest of a topic: a streaming job that commits a version for each checkpoint. */
public final class TopicIngestJob {

    /** The time limit for checking the topic after the job has failed. */
    private static final Duration POST_MORTEM = Duration.ofSeconds(5);

    private TopicIngestJob() {}

    /** Runs on the cluster that {@code flink run} submits to; entry point of the job jar for topics. */
    public static void main(String... args) throws Exception {
        JobMain.run(() -> submit(args));
    }

    private static void submit(String... args) throws Exception {
        TopicIngestOptions options = TopicIngestOptions.parse(args);
        if (options.isDryRun()) {
            plan(options).forEach(System.out::println);
            return;
        }
        IngestListener<TopicIngestProgress> listener = new IngestListener<>() {
            @Override
            public void started(String run, List<String> plan) {
                plan.forEach(System.out::println);
            }
        };
        try (JobLauncher launcher = JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment())) {
            if (launcher.mode() == JobLauncher.Mode.DETACHED) {
                String run = UUID.randomUUID().toString();
                build(options, prepare(options, launcher, run), run, launcher, listener);
                launcher.launch(name(options));
                System.out.println("the ingest continues in the cluster; flink stop ends it with a last version");
            } else {
                run(options, launcher, listener, () -> false).lines().forEach(System.out::println);
            }
        }
    }

    /**
     * Returns a launcher that runs the job in this process.
     *
     * @param wanted subtasks; by default one for each processor
     */
    public static JobLauncher embedded(OptionalInt wanted) throws Exception {
        Configuration conf = new Configuration();
        conf.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(8));
        conf.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(8));
        conf.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(8));
        // The dataset has the position, so checkpoints serve only failures of tasks.
        return ClusterLauncher.open(wanted.orElse(Runtime.getRuntime().availableProcessors()), conf);
    }

    private static String name(TopicIngestOptions options) {
        return "stoker ingest " + options.topic().topic();
    }

    /**
     * Inspects topic and dataset and returns the plan; writes nothing.
     *
     * @throws dev.stoker.ingest.spec.InvalidIngestException if the ingest is not possible
     */
    public static List<String> plan(TopicIngestOptions options) throws IOException {
        return TopicPreparation.of(options, DatasetStore.BY_LOCATION)
                .plan(options, DatasetStore.BY_LOCATION, "")
                .lines();
    }

    /**
     * Runs an ingest until it ends or is asked to stop. An interrupted thread cancels the job.
     *
     * @param stop whether to stop cleanly, with a last version
     * @throws dev.stoker.ingest.spec.InvalidIngestException if the ingest cannot be started with these options
     * @throws IngestFailedException if it failed; committed versions stay
     */
    public static TopicIngestResult run(
            TopicIngestOptions options,
            JobLauncher launcher,
            IngestListener<TopicIngestProgress> listener,
            BooleanSupplier stop)
            throws IOException, InterruptedException {
        long began = System.nanoTime();
        String run = UUID.randomUUID().toString();
        try (TopicMeter meter = TopicMeter.open(run)) {
            TopicPreparation preparation = prepare(options, launcher, run);
            int tasks = build(options, preparation, run, launcher, listener);
            try (TopicWatch watch = new TopicWatch(options, preparation, meter, tasks)) {
                watch.await(launcher, listener, stop, name(options));
            } catch (ExecutionException e) {
                // After a failure, a savepoint of a cluster may still contain a commit. A job in this process has none.
                if (launcher.mode() == JobLauncher.Mode.EMBEDDED && !IngestFailedException.mayBeCommitted(e)) {
                    release(options, run);
                }
                throw failed(
                        options, preparation, run, Objects.requireNonNull(e.getCause(), "a failed future has a cause"));
            }
            // The job has ended: its chunks are committed.
            release(options, run);
            return result(options, preparation, run, meter, Duration.ofNanos(System.nanoTime() - began));
        }
    }

    private static void release(TopicIngestOptions options, String run) throws IOException {
        try (ObjectStore store = DatasetStore.BY_LOCATION.open(options.target())) {
            new Leases(Dataset.open(store)).release(run);
        }
    }

    /** Inspects topic and dataset, creates a new dataset, and takes the lease of the run. */
    private static TopicPreparation prepare(TopicIngestOptions options, JobLauncher launcher, String run)
            throws IOException {
        DatasetStore stores = DatasetStore.BY_LOCATION;
        if (options.reach().until() == TopicIngestOptions.Until.LATEST
                && launcher.environment()
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
        preparation = preparation.create(options, stores, run, launcher.writerProcess());
        try (ObjectStore store = stores.open(options.target())) {
            new Leases(Dataset.open(store))
                    .take(run, Clock.systemUTC(), WriterProcess.user(), launcher.writerProcess());
        }
        return preparation;
    }

    /**
     * Builds the job.
     *
     * @return the number of packing tasks
     */
    private static int build(
            TopicIngestOptions options,
            TopicPreparation preparation,
            String run,
            JobLauncher launcher,
            IngestListener<TopicIngestProgress> listener)
            throws IOException {
        TopicIngestPlan plan = preparation.plan(options, DatasetStore.BY_LOCATION, run);
        listener.started(run, plan.lines());
        int tasks = plan.tasks(launcher.environment().getParallelism());
        new TopicIngestGraph(plan).addTo(launcher.environment());
        return tasks;
    }

    private static IngestFailedException failed(
            TopicIngestOptions options, TopicPreparation preparation, String run, Throwable failure) {
        String text = FailureText.of(failure);
        // A consumer's error about a recreated topic does not show the cause.
        try (SourceTopic topic = new SourceTopic(options.topic(), POST_MORTEM)) {
            String found = topic.shape().id();
            if (!found.equals(preparation.shape().id())) {
                text = TopicGuard.otherTopic(
                                options.topic(), preparation.shape().id(), found)
                        .getMessage();
            }
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
        return new IngestFailedException(
                text + " (committed versions stay; the same command resumes after them)", run, failure);
    }

    private static TopicIngestResult result(
            TopicIngestOptions options, TopicPreparation preparation, String run, TopicMeter meter, Duration duration)
            throws IOException {
        try (ObjectStore store = DatasetStore.BY_LOCATION.open(options.target())) {
            Dataset dataset = Dataset.open(store);
            Snapshot newest = dataset.latest();
            String topic = options.topic().topic();
            long last = lastVersion(preparation, meter, newest.table().topicVersion(topic));
            IngestTotals totals =
                    last == 0 ? IngestTotals.NONE : IngestTotals.of(dataset.entry(last, newest.version()), run);
            return new TopicIngestResult(
                    totals.versions(),
                    totals.versions() == 0 ? 0 : last,
                    totals.samples(),
                    totals.bytes(),
                    new TopicIngestResult.DeadLetterCount(
                            Math.max(totals.deadLetters(), meter.deadLetters()),
                            options.deadLetters().location()),
                    meter.leftOut(),
                    TopicPosition.find(dataset, newest, topic),
                    options.reach().until() == TopicIngestOptions.Until.LATEST
                            ? preparation.reach().hidden()
                            : Optional.empty(),
                    duration);
        }
    }

    /** The newest version that the run may have committed; 0 for none. Its totals hold all that the run has done. */
    private static long lastVersion(TopicPreparation preparation, TopicMeter meter, OptionalLong ofTopic) {
        // A job in another process has no meter here.
        long version = meter.newestVersion() > 0 ? meter.newestVersion() : ofTopic.orElse(0);
        return version > preparation.base().version() ? version : 0;
    }
}

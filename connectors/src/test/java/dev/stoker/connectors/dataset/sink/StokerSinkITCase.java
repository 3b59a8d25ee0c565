package dev.stoker.connectors.dataset.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.SampleSerializer;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.ExceptionUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class StokerSinkITCase {

    private static final int NUMBERS = 10_000;
    private static final AtomicInteger FAILURES = new AtomicInteger();
    /** Slows the last numbers of each task down until a test has stopped a task manager. */
    private static final AtomicBoolean IS_HELD = new AtomicBoolean();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(2)
            .setNumberSlotsPerTaskManager(1)
            .build());

    @TempDir
    Path directory;

    private final DatasetInfo info = new DatasetInfo(
            UUID.randomUUID(),
            "numbers",
            Instant.EPOCH,
            List.of(Field.small("n", FieldType.parse("int64")), Field.payload("text", FieldType.parse("utf8"))),
            Map.of());

    @BeforeEach
    void resetFailures() {
        FAILURES.set(0);
        IS_HELD.set(false);
    }

    /** Makes a sample of a number; fails once in each of some tasks. */
    private record Numbers(int failures) implements SampleSerializer<Long> {
        private static final long serialVersionUID = 1;

        @Override
        public void serialize(Long number, ChunkBuilder row) {
            if (number % 1_000 == 999 && FAILURES.get() < failures && FAILURES.getAndIncrement() < failures) {
                throw new UnsupportedOperationException("a failure that passes");
            }
            row.setLong(0, number);
            row.setString(1, "number " + number);
        }

        @Override
        public long size(Long number) {
            return 30;
        }

        @Override
        public String key(Long number) {
            return "key " + number % 9_999;
        }

        @Override
        public String split(Long number) {
            return number % 10 == 0 ? "val" : "";
        }
    }

    /** Slows the job down, so that checkpoints divide it. Fails when its first checkpoints are complete. */
    private static final class Slowly implements MapFunction<Long, Long>, CheckpointListener {
        private static final long serialVersionUID = 1;

        private final int failures;

        Slowly(int failures) {
            this.failures = failures;
        }

        @Override
        public Long map(Long number) {
            LockSupport.parkNanos(IS_HELD.get() && number % 5_000 >= 4_000 ? 20_000_000 : 100_000);
            return number;
        }

        @Override
        public void notifyCheckpointComplete(long checkpoint) {
            if (FAILURES.get() < failures && FAILURES.getAndIncrement() < failures) {
                throw new UnsupportedOperationException("a failure after checkpoint " + checkpoint);
            }
        }
    }

    private StreamExecutionEnvironment environment(RuntimeExecutionMode mode) {
        Configuration settings = new Configuration();
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 10);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(1));
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(settings);
        environment.setRuntimeMode(mode);
        environment.setParallelism(2);
        return environment;
    }

    private StokerSink<Long> sink(StokerSinkBuilder<Long> builder, int failures) {
        return builder.setPath(directory.toString())
                .setDataset(info)
                .setChunkSize(64 << 10)
                .setSerializer(new Numbers(failures))
                .build();
    }

    private void write(int failures, StokerSinkBuilder<Long> builder) throws Exception {
        StreamExecutionEnvironment environment = environment(RuntimeExecutionMode.BATCH);
        environment.fromSequence(0, NUMBERS - 1).rebalance().sinkTo(sink(builder, failures));
        environment.execute();
    }

    private JobClient stream(int failures, StokerSinkBuilder<Long> builder) throws Exception {
        StreamExecutionEnvironment environment = environment(RuntimeExecutionMode.STREAMING);
        environment.enableCheckpointing(100);
        environment.fromSequence(0, NUMBERS - 1).map(new Slowly(failures)).sinkTo(sink(builder, 0));
        return environment.executeAsync();
    }

    /** Returns the keys of all samples by number, and checks that no number and no lease comes twice. */
    private Map<Long, String> keys(int versions) throws IOException {
        Map<Long, String> keys = new TreeMap<>();
        try (ObjectStore store = DatasetStore.BY_LOCATION.open(directory.toString())) {
            Dataset dataset = Dataset.open(store);
            if (versions > 0) {
                assertThat(dataset.latestVersion()).isEqualTo(versions);
            }
            assertThat(new Leases(dataset).all()).isEmpty();
            Snapshot snapshot = dataset.snapshot();
            assertThat(snapshot.splits()).containsExactlyInAnyOrder("train", "val");
            for (int i = 0; i < snapshot.table().size(); i++) {
                ChunkHead head = ChunkHeads.read(store, snapshot.table(), i);
                assertThat(snapshot.table().length(i)).isLessThanOrEqualTo(64 << 10);
                for (int row = 0; row < head.rows(); row++) {
                    long number = head.column(0).longAt(row);
                    assertThat(keys.put(number, head.key(row))).isNull();
                    assertThat(snapshot.table().split(i)).isEqualTo(number % 10 == 0 ? "val" : "train");
                }
            }
        }
        assertThat(keys.values()).doesNotHaveDuplicates();
        return keys;
    }

    private long versions() throws IOException {
        try (ObjectStore store = DatasetStore.BY_LOCATION.open(directory.toString())) {
            return Dataset.find(store).isEmpty() ? 0 : Dataset.open(store).latestVersion();
        }
    }

    private static Long[] all() {
        return LongStream.range(0, NUMBERS).boxed().toArray(Long[]::new);
    }

    private static void assertFails(JobClient job, String message) {
        assertThatThrownBy(() -> job.getJobExecutionResult().get())
                .satisfies(failure ->
                        assertThat(ExceptionUtils.stringifyException(failure)).contains(message));
    }

    @Test
    void aBatchCommitsEveryRecordOnceInOneVersionAlthoughTasksFail() throws Exception {
        write(4, StokerSink.builder());
        assertThat(FAILURES.get()).isGreaterThanOrEqualTo(4);
        assertThat(keys(1)).containsOnlyKeys(all());
    }

    @Test
    void commitsAnIngestIdOnce() throws Exception {
        write(0, StokerSink.<Long>builder().setIngestId("once"));
        write(0, StokerSink.<Long>builder().setIngestId("once"));
        assertThat(keys(1)).containsOnlyKeys(all());
    }

    @Test
    void aStreamCommitsEveryRecordOnceAlthoughItFailsAfterCheckpoints() throws Exception {
        stream(3, StokerSink.builder()).getJobExecutionResult().get();
        assertThat(FAILURES.get()).isGreaterThanOrEqualTo(3);
        assertThat(versions()).isGreaterThan(1);
        assertThat(keys(0)).containsOnlyKeys(all());
    }

    @Test
    void aStreamCommitsEveryRecordOnceAlthoughATaskManagerFails(@InjectMiniCluster MiniCluster cluster)
            throws Exception {
        IS_HELD.set(true);
        JobClient job = stream(0, StokerSink.<Long>builder().setIngestId("run"));
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        while (versions() < 1) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            LockSupport.parkNanos(1_000_000);
        }
        cluster.terminateTaskManager(0).get();
        IS_HELD.set(false);
        cluster.startTaskManager();
        job.getJobExecutionResult().get();
        Map<Long, String> keys = keys(0);
        assertThat(keys).containsOnlyKeys(all());
        assertThat(keys.values()).anyMatch(key -> key.matches("run/[01]/\\d+"));
        assertThat(keys.values()).anyMatch(key -> key.matches("run/[01]\\.\\d+/\\d+"));
    }

    @Test
    void refusesAnotherStreamUnderTheSameIngestId() throws Exception {
        stream(0, StokerSink.<Long>builder().setIngestId("same"))
                .getJobExecutionResult()
                .get();
        long before = versions();
        assertFails(stream(0, StokerSink.<Long>builder().setIngestId("same")), "start the job with another ingest id");
        assertThat(versions()).isEqualTo(before);
    }

    @Test
    void refusesAKeyThatComesTwice() throws Exception {
        StreamExecutionEnvironment environment = environment(RuntimeExecutionMode.BATCH);
        environment
                .fromSequence(0, NUMBERS - 1)
                .rebalance()
                .sinkTo(sink(StokerSink.<Long>builder().withGivenKeys(), 0));
        assertFails(environment.executeAsync(), "The key key 0 occurs twice in the rows to write");
        assertThat(versions()).isZero();
    }

    @Test
    void refusesAKeyOfTheDataset() throws Exception {
        writeKeys(0, 20, 0).getJobExecutionResult().get();
        writeKeys(20, 40, 1).getJobExecutionResult().get();
        // Of the planned version, and of a later one.
        assertFails(writeKeys(35, 50, 2), "already has a sample with the key key 3");
        assertFails(writeKeys(35, 50, 1), "already has a sample with the key key 3");
        assertThat(versions()).isEqualTo(2);
    }

    private JobClient writeKeys(long first, long end, long base) throws Exception {
        StreamExecutionEnvironment environment = environment(RuntimeExecutionMode.BATCH);
        environment
                .fromSequence(first, end - 1)
                .sinkTo(sink(StokerSink.<Long>builder().withGivenKeys().setBaseVersion(base), 0));
        return environment.executeAsync();
    }

    @Test
    void refusesStreamsThatItCannotCommitExactlyOnce() throws Exception {
        assertFails(stream(0, StokerSink.<Long>builder().withGivenKeys()), "writes given keys");
        assertFails(stream(0, StokerSink.<Long>builder().replaceAll()), "replaces all samples");
        StreamExecutionEnvironment environment = environment(RuntimeExecutionMode.STREAMING);
        environment.enableCheckpointing(100, CheckpointingMode.AT_LEAST_ONCE);
        environment.fromSequence(0, 9).sinkTo(sink(StokerSink.builder(), 0));
        assertFails(environment.executeAsync(), "EXACTLY_ONCE");
        assertThat(versions()).isZero();
    }

    @Test
    void reportsAllWrongSettingsTogether() {
        assertThatThrownBy(() ->
                        StokerSink.<Long>builder().setChunkSize(0).setSplit("").build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("setPath", "split is empty", "chunk size is 0", "setDataset", "setSerializer");
    }
}

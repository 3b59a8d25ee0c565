package dev.stoker.flink.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.flink.embedded.EmbeddedFlink;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.compaction.Compaction;
import dev.stoker.metadata.compaction.CompactionFailedException;
import dev.stoker.metadata.compaction.CompactionPlan;
import dev.stoker.metadata.compaction.CompactionResult;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.Crumbs;
import dev.stoker.metadata.gc.Orphans;
import dev.stoker.metadata.index.IndexCheck;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.index.build.IndexBuild;
import dev.stoker.metadata.rebuild.Rebuild;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.metadata.verify.VerificationReport;
import dev.stoker.metadata.work.PieceWork;
import dev.stoker.metadata.work.PieceWorker;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class FlinkWorkersTest {

    private static final CompactionRules RULES = new CompactionRules(8 << 10, 16 << 10, OptionalLong.of(0));

    @TempDir
    private Path directory;

    private ObjectStore store;
    private Dataset dataset;

    @BeforeEach
    void ingest() throws IOException {
        store = Stores.open(directory.toString());
        Crumbs crumbs = new Crumbs(store, 3);
        dataset = crumbs.dataset();
        for (int n = 0; n < 40; n++) {
            crumbs.ingest(n % 4 == 3 ? "val" : "train", 300, 1 + n % 5, 4);
        }
    }

    @AfterEach
    void close() throws IOException {
        store.close();
    }

    private FlinkWorkers workers() {
        Configuration settings = new Configuration()
                .set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay")
                .set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 5)
                .set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(1));
        return new FlinkWorkers(
                directory.toString(), "test", 2, () -> EmbeddedFlink.environment(2, settings), (done, pieces) -> {});
    }

    private Compaction compaction(String id) {
        return new Compaction(dataset, "compact-" + id, "test", Crumbs.CLOCK, workers(), bytes -> {});
    }

    private CompactionPlan plan() throws IOException {
        return CompactionPlan.of(dataset.snapshot(), RULES);
    }

    private void damage(int chunk) throws IOException {
        Path file = directory.resolve(ChunkNames.path(dataset.snapshot().table().id(chunk)));
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 1;
        Files.write(file, bytes);
    }

    @Test
    void aVerificationFindsTheSameAsThreadsDo() throws Exception {
        damage(7);
        damage(50);
        VerificationReport expected = new Verification(dataset, Runnable::run, 1, bytes -> {}).run(dataset.snapshot());
        assertThat(expected.problems()).hasSizeGreaterThanOrEqualTo(2);
        assertThat(new Verification(dataset, workers(), bytes -> {}).run(dataset.snapshot()))
                .isEqualTo(expected);
    }

    @Test
    void aCompactionKeepsTheSamples() throws Exception {
        Map<String, String> samples = Crumbs.samples(dataset, dataset.latestVersion());
        CompactionPlan plan = plan();

        CompactionResult result = compaction("a").run(plan);

        assertThat(result.entry().orElseThrow().removed()).hasSize(plan.sources());
        assertThat(Crumbs.samples(dataset, dataset.latestVersion())).isEqualTo(samples);
        assertThat(Orphans.find(dataset, Crumbs.CLOCK)).isEmpty();
    }

    @Test
    void aDamagedChunkEndsACompactionWithoutARestart() throws Exception {
        long version = dataset.latestVersion();
        damage(7);
        CompactionPlan plan = plan();
        assertThatThrownBy(() -> compaction("b").run(plan))
                .isInstanceOf(CompactionFailedException.class)
                .hasMessageContaining("Chunk 7 ");
        assertThat(dataset.latestVersion()).isEqualTo(version);
    }

    @Test
    void anIndexIsTheSameAsThatOfThreads() throws Exception {
        new IndexBuild(dataset, BuildThreads.ofCaller(), rows -> {}).update();
        Map<String, byte[]> expected = indexFiles();
        IndexBuild.Result result = new IndexBuild(dataset, workers(), rows -> {}).rebuild();
        assertThat(result.rows()).isEqualTo(dataset.snapshot().table().liveRows());
        assertThat(indexFiles()).containsExactlyEntriesOf(expected);
        assertThat(store.list(DatasetLayout.SCRATCH).toList()).isEmpty();
    }

    private Map<String, byte[]> indexFiles() throws IOException {
        Map<String, byte[]> files = new TreeMap<>();
        for (ObjectInfo file : store.list(DatasetLayout.INDEX).toList()) {
            files.put(file.name(), store.readAll(file.name(), 1 << 20));
        }
        assertThat(files).isNotEmpty();
        return files;
    }

    @Test
    @Tag("full-programs")
    void aRebuiltLogIsTheSameAsThatOfThreads() throws Exception {
        compaction("c").run(plan());
        damage(dataset.snapshot().table().size() - 1);
        Path lost = Files.move(directory.resolve("_stoker"), directory.resolve("lost"));
        Files.createDirectories(directory.resolve("_stoker"));
        Files.copy(lost.resolve("dataset.json"), directory.resolve("_stoker/dataset.json"));
        List<String> notes;
        long samples;
        try (Rebuild rebuild = Rebuild.plan(store, BuildThreads.ofCaller(), read -> {})) {
            notes = rebuild.notes();
            samples = rebuild.samples();
            assertThat(rebuild.versions()).isGreaterThan(1);
        }
        AtomicInteger read = new AtomicInteger();
        try (Rebuild rebuild = Rebuild.plan(store, workers(), read::addAndGet)) {
            assertThat(rebuild.notes()).isEqualTo(notes);
            assertThat(rebuild.samples()).isEqualTo(samples);
            assertThat(read).hasValueGreaterThanOrEqualTo(rebuild.chunks());
            rebuild.apply();
            rebuild.index();
        }
        Dataset rebuilt = Dataset.open(store);
        assertThat(Crumbs.samples(rebuilt, rebuilt.latestVersion())).hasSize((int) samples);
        assertThat(store.list(DatasetLayout.SCRATCH).toList()).isEmpty();
        assertThat(new IndexCheck(rebuilt, rebuilt.snapshot(), rows -> {}).run().differences())
                .isZero();
    }

    @Test
    void aTaskThatFailsBeginsAgainAndEachResultCountsOnce() throws Exception {
        FailingOnce.FAILURES.set(2);
        List<Integer> results = Collections.synchronizedList(new ArrayList<>());
        workers().run(1000, new FailingOnce(), results::add);
        assertThat(FailingOnce.FAILURES.get()).isLessThanOrEqualTo(0);
        assertThat(results)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 1000).boxed().toList());
    }

    @Test
    void anInterruptCancelsTheJob() throws Exception {
        Waiting.BEGUN = new CountDownLatch(2);
        Waiting.ENDED = new CountDownLatch(2);
        List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        Thread caller = new Thread(() -> {
            try {
                workers().run(2, new Waiting(), result -> {});
            } catch (IOException | InterruptedException e) {
                thrown.add(e);
            }
        });
        caller.start();
        Waiting.BEGUN.await();
        caller.interrupt();
        caller.join(60_000);
        assertThat(thrown).singleElement().isInstanceOf(InterruptedException.class);
        assertThat(Waiting.ENDED.getCount()).isZero();
    }

    /** Fails some times. */
    private static final class FailingOnce implements PieceWork<Integer> {
        private static final long serialVersionUID = 1;
        private static final AtomicInteger FAILURES = new AtomicInteger();

        @Override
        public Supplier<PieceWorker<Integer>> open(ObjectStore store) {
            return () -> piece -> {
                if (piece % 500 == 400 && FAILURES.getAndDecrement() > 0) {
                    throw new IllegalStateException("once");
                }
                return piece;
            };
        }
    }

    /** Waits until it is interrupted. */
    private static final class Waiting implements PieceWork<Integer> {
        private static final long serialVersionUID = 1;
        private static CountDownLatch BEGUN = new CountDownLatch(0);
        private static CountDownLatch ENDED = new CountDownLatch(0);

        @Override
        public Supplier<PieceWorker<Integer>> open(ObjectStore store) {
            return () -> piece -> {
                BEGUN.countDown();
                try {
                    new CountDownLatch(1).await();
                    return piece;
                } finally {
                    ENDED.countDown();
                }
            };
        }
    }
}

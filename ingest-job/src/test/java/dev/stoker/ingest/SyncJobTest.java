package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.pack.IngestMeter;
import dev.stoker.ingest.pack.plan.PackPlan;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.ingest.pack.plan.SampleFiles;
import dev.stoker.ingest.pack.sync.SyncChanges.Kind;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.compaction.Compaction;
import dev.stoker.metadata.compaction.CompactionPlan;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class SyncJobTest {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = TestClusters.withTwoSlots();

    private static final long HOUR_MS = 3_600_000;

    /** The files that were opened since the last call of {@link #sync}. */
    private static final Set<String> OPENED = ConcurrentHashMap.newKeySet();

    @TempDir
    private Path directory;

    private Path source() {
        return directory.resolve("source");
    }

    private Path target() {
        return directory.resolve("target");
    }

    private static JobLauncher launcher() {
        return JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment());
    }

    private SyncResult sync(String... options) throws IOException, InterruptedException {
        OPENED.clear();
        return sync(
                path -> {
                    OPENED.add(path);
                    return SampleFiles.LOCAL.open(path);
                },
                options);
    }

    private SyncResult sync(SampleFiles files, String... options) throws IOException, InterruptedException {
        List<String> args = new ArrayList<>(List.of(source().toString(), target().toString()));
        args.addAll(List.of(options));
        return SyncJob.run(
                SyncOptions.parse(args.toArray(String[]::new)),
                launcher(),
                IngestListener.silent(),
                new SampleAccess(files, DatasetStore.BY_LOCATION));
    }

    /** Ingests the source an hour later than now: the times of its files say that they have not changed since. */
    private void ingestInAnHour(String... options) throws IOException, InterruptedException {
        IngestOptions parsed = Ingests.options(source(), target(), options);
        String id = UUID.randomUUID().toString();
        Preparation preparation =
                Preparation.of(parsed, DatasetStore.BY_LOCATION).create(parsed, DatasetStore.BY_LOCATION, id, "");
        IngestPlan plan = preparation.plan(parsed, id, SampleAccess.BY_LOCATION);
        PackPlan pack = plan.pack();
        IngestPlan later = new IngestPlan(
                new PackPlan(
                        pack.tree(),
                        pack.order(),
                        pack.target(),
                        pack.dataset(),
                        pack.ingest(),
                        pack.startedMs() + HOUR_MS,
                        pack.content(),
                        pack.label(),
                        pack.sidecars(),
                        pack.splitRule(),
                        pack.onDuplicate(),
                        pack.sync(),
                        pack.chunkSizeBytes(),
                        pack.threads(),
                        pack.readAhead(),
                        pack.access()),
                plan.run(),
                plan.reading(),
                plan.excludedKeys(),
                plan.lines());
        try (IngestMeter meter = IngestMeter.open(id)) {
            IngestJob.commit(
                    later.run(),
                    meter,
                    IngestListener.silent(),
                    System.nanoTime(),
                    () -> IngestJob.start(later, launcher(), IngestListener.silent()));
        }
    }

    private LogEntry entry(long version) throws IOException {
        try (ObjectStore store = new LocalObjectStore(target())) {
            return Dataset.open(store).entry(version, version);
        }
    }

    private Set<String> filesOfTarget() throws IOException {
        try (Stream<Path> files = Files.walk(target())) {
            return new TreeSet<>(files.map(Path::toString).toList());
        }
    }

    private static Map<Kind, Long> counts(SyncResult result) {
        Map<Kind, Long> counts = new TreeMap<>();
        for (Kind kind : Kind.values()) {
            if (result.changes().count(kind) > 0) {
                counts.put(kind, result.changes().count(kind));
            }
        }
        return counts;
    }

    /** Ingests 120 files, and then adds 40, changes one with its size and one without, and deletes two. */
    private Map<String, byte[]> grown() throws IOException, InterruptedException {
        Trees.images(source(), "a", 3, 40, 300);
        Ingests.run(source(), target(), "--label-from", "parent-dir", "--chunk-size", "8kb");
        Map<String, byte[]> files = Trees.images(source(), "a", 3, 40, 300);
        files.putAll(Trees.images(source(), "b", 1, 40, 300));
        byte[] sameSize = files.get("a1/3.jpg").clone();
        sameSize[0]++;
        change(files, "a1/3.jpg", sameSize);
        change(files, "a2/5.jpg", new byte[1000]);
        for (String gone : List.of("a1/7.jpg", "a2/8.jpg")) {
            files.remove(gone);
            Files.delete(source().resolve(gone));
        }
        return files;
    }

    private void change(Map<String, byte[]> files, String key, byte[] content) throws IOException {
        Files.write(source().resolve(key), content);
        files.put(key, content);
    }

    @Test
    void makesTheDatasetAgreeWithTheTreeInOneVersion() throws Exception {
        Map<String, byte[]> files = grown();

        SyncResult result = sync("--label-from", "parent-dir", "--delete");

        Packed.assertHasImages(target(), files);
        assertThat(result.ingest().version()).isEqualTo(2);
        assertThat(counts(result))
                .isEqualTo(Map.of(Kind.ADDED, 40L, Kind.CHANGED, 2L, Kind.REMOVED, 2L, Kind.UNCHANGED, 116L));
        assertThat(result.changes().first(Kind.CHANGED)).containsExactly("a1/3.jpg", "a2/5.jpg");
        assertThat(result.changes().first(Kind.REMOVED)).containsExactly("a1/7.jpg", "a2/8.jpg");
        assertThat(entry(2).operation()).isEqualTo(Operation.INGEST);
        assertThat(entry(2).addedRows()).isEqualTo(42);
        assertThat(entry(2).properties()).containsEntry("replaced", "2").containsEntry("removed", "2");
        assertThat(Packed.leases(target())).isEmpty();

        SyncResult again = sync("--label-from", "parent-dir", "--delete");

        assertThat(again.ingest().outcome()).isEqualTo(IngestResult.Outcome.UNCHANGED);
        assertThat(counts(again)).isEqualTo(Map.of(Kind.UNCHANGED, 158L));
        assertThat(Packed.latestVersion(target())).isEqualTo(2);
        assertThat(Packed.leases(target())).isEmpty();
    }

    @Test
    void keepsSamplesWithoutAFileUnlessItIsToldToDelete() throws Exception {
        Map<String, byte[]> files = Trees.images(source(), "a", 1, 20, 300);
        Ingests.run(source(), target());
        Files.delete(source().resolve("a0/deep/3.jpg"));

        SyncResult kept = sync();

        assertThat(counts(kept)).isEqualTo(Map.of(Kind.MISSING, 1L, Kind.UNCHANGED, 19L));
        assertThat(Packed.latestVersion(target())).isEqualTo(1);

        sync("--delete");

        files.remove("a0/deep/3.jpg");
        Packed.assertHasImages(target(), files);
        assertThat(entry(2).operation()).isEqualTo(Operation.REMOVE);
        assertThat(entry(2).properties()).containsEntry("replaced", "0").containsEntry("removed", "1");
    }

    @Test
    void writesNothingInADryRun() throws Exception {
        grown();
        Set<String> before = filesOfTarget();

        SyncResult result = sync("--label-from", "parent-dir", "--delete", "--dry-run");

        assertThat(counts(result))
                .isEqualTo(Map.of(Kind.ADDED, 40L, Kind.CHANGED, 2L, Kind.REMOVED, 2L, Kind.UNCHANGED, 116L));
        assertThat(result.changes().first(Kind.ADDED)).hasSize(10).startsWith("b0/deep/0.jpg", "b0/deep/1.jpg");
        assertThat(filesOfTarget()).isEqualTo(before);
    }

    @Test
    void readsOnlyFilesThatHaveChangedSinceTheyWerePacked() throws Exception {
        Map<String, byte[]> files = Trees.images(source(), "a", 2, 30, 300);
        ingestInAnHour();
        byte[] sameSize = files.get("a1/3.jpg").clone();
        sameSize[0]++;
        change(files, "a1/3.jpg", sameSize);
        Trees.file(source(), "new.jpg", "new");
        files.put("new.jpg", Files.readAllBytes(source().resolve("new.jpg")));

        // The change is older than the ingest, or so it seems.
        assertThat(counts(sync())).isEqualTo(Map.of(Kind.ADDED, 1L, Kind.UNCHANGED, 60L));
        assertThat(OPENED).containsExactly(source().resolve("new.jpg").toString());

        assertThat(counts(sync("--checksum"))).isEqualTo(Map.of(Kind.CHANGED, 1L, Kind.UNCHANGED, 60L));
        assertThat(OPENED).hasSize(61);
        Packed.assertHasImages(target(), files);
    }

    @Test
    void doesNotTrustTheTimeOfACompaction() throws Exception {
        Map<String, byte[]> files = Trees.images(source(), "a", 1, 20, 300);
        Ingests.run(source(), target(), "--chunk-size", "4kb");
        try (ObjectStore store = new LocalObjectStore(target())) {
            Dataset dataset = Dataset.open(store);
            InstantSource later = InstantSource.offset(InstantSource.system(), Duration.ofHours(1));
            new Compaction(
                            dataset,
                            VersionRequest.COMPACTION + "1",
                            "ada",
                            later,
                            new CompactionThreads(1, 1, 1 << 24),
                            bytes -> {})
                    .run(CompactionPlan.of(
                            dataset.snapshot(), new CompactionRules(1 << 20, 1 << 20, OptionalLong.empty())));
        }
        byte[] sameSize = files.get("a0/deep/3.jpg").clone();
        sameSize[0]++;
        change(files, "a0/deep/3.jpg", sameSize);

        assertThat(counts(sync())).isEqualTo(Map.of(Kind.CHANGED, 1L, Kind.UNCHANGED, 19L));
        Packed.assertHasImages(target(), files);
    }

    @Test
    void replacesSamplesWhoseSidecarsOrLabelsHaveChanged() throws Exception {
        Path labels = directory.resolve("labels.csv");
        for (String name : List.of("a", "b", "c", "d", "e")) {
            Trees.file(source(), name + ".jpg", name);
            Trees.file(source(), name + ".txt", "text of " + name);
        }
        Files.delete(source().resolve("e.txt"));
        Files.writeString(labels, "a.jpg,one\nb.jpg,one\nc.jpg,one\nd.jpg,one\ne.jpg,one\n");
        String[] options = {"--label-from", "csv:" + labels, "--sidecar", ".txt=text:utf8"};
        ingestInAnHour(options);
        assertThat(counts(sync(options))).isEqualTo(Map.of(Kind.UNCHANGED, 5L));

        Files.writeString(labels, "a.jpg,one\nb.jpg,two\nc.jpg,one\nd.jpg,one\ne.jpg,one\n");
        Files.delete(source().resolve("c.txt"));
        Trees.file(source(), "e.txt", "text of e");
        assertThat(counts(sync(options))).isEqualTo(Map.of(Kind.CHANGED, 2L, Kind.RELABELLED, 1L, Kind.UNCHANGED, 2L));

        Trees.file(source(), "d.txt", "TEXT OF D");
        assertThat(sync(concat(options, "--checksum")).changes().first(Kind.CHANGED))
                .containsExactly("d.jpg");
        assertThat(Packed.read(target()).values("label"))
                .isEqualTo(Map.of("a.jpg", "one", "b.jpg", "two", "c.jpg", "one", "d.jpg", "one", "e.jpg", "one"));
        assertThat(Packed.read(target()).values("text"))
                .containsEntry("a.jpg", "text of a")
                .containsEntry("d.jpg", "TEXT OF D")
                .containsEntry("e.jpg", "text of e");
        assertThat(Packed.read(target()).values("text").get("c.jpg")).isNull();
    }

    private static String[] concat(String[] options, String... more) {
        return Stream.concat(Stream.of(options), Stream.of(more)).toArray(String[]::new);
    }

    @Test
    void keepsTheSampleOfAFileThatVanishes() throws Exception {
        Map<String, byte[]> files = Trees.images(source(), "a", 1, 20, 300);
        Ingests.run(source(), target());
        Files.write(source().resolve("a0/deep/3.jpg"), new byte[5000]);

        SyncResult result = sync(
                path -> {
                    throw new NoSuchFileException(path);
                },
                "--delete");

        assertThat(result.ingest().outcome()).isEqualTo(IngestResult.Outcome.UNCHANGED);
        assertThat(result.ingest().skipped()).isEqualTo(Map.of(FileSkip.VANISHED, 20L));
        Packed.assertHasImages(target(), files);
        assertThat(Packed.latestVersion(target())).isEqualTo(1);
    }

    @Test
    void refusesWhatWouldDeleteByMistake() throws Exception {
        Trees.file(source(), "a.jpg", "x");
        assertThatThrownBy(() -> sync())
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("there is no dataset at " + target() + "; create it with: stoker ingest");
        assertThat(target()).doesNotExist();
        Ingests.run(source(), target());

        assertThatThrownBy(() -> sync("--delete", "--on-error", "skip"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("--delete needs --on-error fail");
        Files.delete(source().resolve("a.jpg"));
        assertThatThrownBy(() -> sync("--delete"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("contains no samples");
    }
}

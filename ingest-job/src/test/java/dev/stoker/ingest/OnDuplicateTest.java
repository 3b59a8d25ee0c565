package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.ingest.pack.plan.SampleFiles;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys that occur twice in a source, and keys that the dataset already has. */
@Timeout(120)
class OnDuplicateTest {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = TestClusters.withTwoSlots();

    @TempDir
    private Path directory;

    private Path target() {
        return directory.resolve("target");
    }

    private LogEntry entry(long version) throws IOException {
        try (ObjectStore store = new LocalObjectStore(target())) {
            return Dataset.open(store).entry(version, version);
        }
    }

    private IngestResult append(Path source, String onDuplicate) throws IOException, InterruptedException {
        return Ingests.run(source, target(), "--append", "--on-duplicate", onDuplicate, "--chunk-size", "8kb");
    }

    @Test
    void skipsFilesWhoseKeysTheDatasetHas() throws Exception {
        Path source = directory.resolve("source");
        Map<String, byte[]> files = Trees.images(source, "a", 3, 40, 300);
        Ingests.run(source, target(), "--chunk-size", "8kb");
        Map<String, byte[]> expected = new TreeMap<>(files);
        expected.putAll(Trees.images(source, "b", 2, 30, 300));
        Trees.file(source, "a1/7.jpg", "changed");

        IngestResult result = append(source, "skip");

        Packed.assertHasImages(target(), expected);
        assertThat(result.samples()).isEqualTo(60);
        assertThat(result.replaced()).isZero();
        assertThat(result.skipped()).isEqualTo(Map.of(FileSkip.STORED, 120L));
        assertThat(result.lines()).contains("left out: 120 keys that the dataset already has, such as a0/deep/0.jpg");
        assertThat(entry(2).removed()).isEmpty();

        IngestResult again = append(source, "skip");

        assertThat(again.outcome()).isEqualTo(IngestResult.Outcome.UNCHANGED);
        assertThat(again.version()).isEqualTo(2);
        assertThat(again.lines())
                .anyMatch(line -> line.startsWith("nothing to commit: version 2 already has all keys"))
                .contains("left out: 180 keys that the dataset already has, such as a0/deep/0.jpg");
        assertThat(Packed.latestVersion(target())).isEqualTo(2);
        assertThat(Packed.leases(target())).isEmpty();
    }

    @Test
    void replacesSamplesByFilesInOneVersion() throws Exception {
        Path source = directory.resolve("source");
        Map<String, byte[]> files = Trees.images(source, "a", 3, 40, 300);
        Ingests.run(source, target(), "--chunk-size", "8kb");
        Path more = directory.resolve("more");
        Map<String, byte[]> news = Trees.images(more, "a", 2, 50, 700);
        files.putAll(news);

        IngestResult result = append(more, "replace");

        Packed.assertHasImages(target(), files);
        assertThat(result.version()).isEqualTo(2);
        assertThat(result.samples()).isEqualTo(100);
        assertThat(result.replaced()).isEqualTo(80);
        assertThat(result.lines()).contains("replaced: 80 samples of the dataset");
        assertThat(entry(2).operation()).isEqualTo(Operation.INGEST);
        assertThat(entry(2).properties()).containsEntry("replaced", "80");
    }

    @Test
    void keepsTheStoredSampleIfTheNewFileVanishes() throws Exception {
        Path source = directory.resolve("source");
        Map<String, byte[]> files = Trees.images(source, "a", 1, 20, 300);
        Ingests.run(source, target());
        Trees.images(source, "a", 1, 20, 500);
        byte[] kept = files.get("a0/deep/3.jpg");
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
            file.setValue(Files.readAllBytes(source.resolve(file.getKey())));
        }
        files.put("a0/deep/3.jpg", kept);
        SampleFiles lacking = path -> {
            if (path.endsWith("/3.jpg")) {
                throw new NoSuchFileException(path);
            }
            return SampleFiles.LOCAL.open(path);
        };

        IngestResult result = Ingests.run(
                new SampleAccess(lacking, DatasetStore.BY_LOCATION),
                source,
                target(),
                "--append",
                "--on-duplicate",
                "replace");

        Packed.assertHasImages(target(), files);
        assertThat(result.replaced()).isEqualTo(19);
        assertThat(result.skipped()).isEqualTo(Map.of(FileSkip.VANISHED, 1L));
    }

    @ParameterizedTest
    @ValueSource(strings = {"fail", "first", "last"})
    void refusesAFileWhoseKeyTheDatasetHas(String onDuplicate) throws Exception {
        Path source = directory.resolve("source");
        Trees.file(source, "a.jpg", "x");
        Ingests.run(source, target());

        assertThatThrownBy(() -> append(source, onDuplicate))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("already has a sample with the key a.jpg, in chunk 0")
                .hasMessageContaining("--on-duplicate skip, take the new one with --on-duplicate replace");
        assertThat(Packed.latestVersion(target())).isEqualTo(1);
    }

    private IngestResult rows(String... options) throws IOException, InterruptedException {
        List<String> args = new ArrayList<>(List.of(
                directory.resolve("tables").toString(), target().toString(), "--key", "id", "--chunk-size", "4kb"));
        args.addAll(List.of(options));
        RowIngestOptions parsed = RowIngestOptions.parse(args.toArray(String[]::new));
        return RowIngestJob.run(
                parsed,
                JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment()),
                IngestListener.silent());
    }

    /** Writes two tables: the first has each key of a range once, the second has some of them again, three times. */
    private void tables(String value, int first, int end) throws IOException {
        Path tables = Files.createDirectories(directory.resolve("tables"));
        StringBuilder one = new StringBuilder("id,value\n");
        StringBuilder two = new StringBuilder("id,value\n");
        for (int i = first; i < end; i++) {
            one.append('k')
                    .append(i)
                    .append(',')
                    .append(value)
                    .append("-1-")
                    .append(i)
                    .append('\n');
        }
        for (int time = 2; time <= 4; time++) {
            for (int i = first; i < end; i += 5) {
                two.append("k%d,%s-%d-%d\n".formatted(i, value, time, i));
            }
        }
        Files.writeString(tables.resolve("a.csv"), one);
        Files.writeString(tables.resolve("b.csv"), two);
    }

    private static String expected(String value, int i, boolean isLast) {
        return value + (isLast && i % 5 == 0 ? "-4-" : "-1-") + i;
    }

    @ParameterizedTest
    @CsvSource({"first,1", "first,2", "last,1", "last,2", "skip,2", "replace,2"})
    void takesTheFirstOrTheLastRowOfAKeyAtAnyParallelism(String onDuplicate, String parallelism) throws Exception {
        tables("v", 0, 500);
        boolean isLast = onDuplicate.equals("last") || onDuplicate.equals("replace");

        IngestResult result = rows("--on-duplicate", onDuplicate, "--parallelism", parallelism);

        Map<String, Object> values = Packed.read(target()).values("value");
        assertThat(values).hasSize(500);
        values.forEach(
                (key, value) -> assertThat(value).isEqualTo(expected("v", Integer.parseInt(key.substring(1)), isLast)));
        assertThat(result.skipped()).isEqualTo(Map.of(FileSkip.REPEATED, 300L));
    }

    @Test
    void skipsRowsWhoseKeysTheDatasetHas() throws Exception {
        tables("old", 0, 100);
        rows("--on-duplicate", "first");
        tables("new", 50, 150);

        IngestResult result = rows("--append", "--on-duplicate", "skip", "--parallelism", "2");

        Map<String, Object> values = Packed.read(target()).values("value");
        assertThat(values).hasSize(150);
        values.forEach((key, value) -> {
            int i = Integer.parseInt(key.substring(1));
            assertThat(value).isEqualTo(expected(i < 100 ? "old" : "new", i, false));
        });
        assertThat(result.skipped()).isEqualTo(Map.of(FileSkip.STORED, 50L, FileSkip.REPEATED, 60L));
    }

    @Test
    void replacesSamplesByRows() throws Exception {
        tables("old", 0, 100);
        rows("--on-duplicate", "first");
        tables("new", 50, 150);

        IngestResult result = rows("--append", "--on-duplicate", "replace", "--parallelism", "2");

        Map<String, Object> values = Packed.read(target()).values("value");
        assertThat(values).hasSize(150);
        values.forEach((key, value) -> {
            int i = Integer.parseInt(key.substring(1));
            assertThat(value).isEqualTo(i < 50 ? expected("old", i, false) : expected("new", i, true));
        });
        assertThat(result.replaced()).isEqualTo(50);
        assertThat(result.skipped()).isEqualTo(Map.of(FileSkip.REPEATED, 60L));
    }

    @ParameterizedTest
    @ValueSource(strings = {"first", "last"})
    void refusesARowWhoseKeyTheDatasetHas(String onDuplicate) throws Exception {
        tables("old", 0, 10);
        rows("--on-duplicate", "first");

        assertThatThrownBy(() -> rows("--append", "--on-duplicate", onDuplicate))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("already has a sample with the key k");
        assertThat(Packed.latestVersion(target())).isEqualTo(1);
    }
}

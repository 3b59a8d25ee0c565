package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.order.KeyHash;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.client.program.ProgramParametrizationException;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class IngestJobTest {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(2)
            .setNumberSlotsPerTaskManager(2)
            .build());

    @TempDir
    private Path directory;

    private Path source() {
        return directory.resolve("source");
    }

    private Path target() {
        return directory.resolve("target");
    }

    private IngestResult ingest(String... options) throws IOException, InterruptedException {
        return Ingests.run(source(), target(), options);
    }

    private static void assertSame(Map<String, byte[]> packed, Map<String, byte[]> files) {
        assertThat(packed.keySet()).isEqualTo(files.keySet());
        packed.forEach((key, bytes) -> assertThat(bytes).as(key).isEqualTo(files.get(key)));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void packsEveryFileOnceAtAnyParallelism(int parallelism) throws Exception {
        Map<String, byte[]> files = Trees.images(source(), 5, 120, 2000);

        IngestResult result = ingest(
                "--label-from", "parent-dir", "--chunk-size", "64kb", "--parallelism", Integer.toString(parallelism));

        Packed packed = Packed.read(target());
        assertSame(packed.bytes("image"), files);
        assertThat(result.version()).isEqualTo(1);
        assertThat(result.samples()).isEqualTo(files.size());
        assertThat(result.chunks()).isEqualTo(packed.chunkKeys().size()).isGreaterThan(10);
        assertThat(packed.snapshot().info().fields().stream().map(Field::name)).containsExactly("label", "image");
        packed.samples()
                .forEach(sample -> assertThat(sample.fields().get("label"))
                        .isEqualTo(source().resolve(sample.key())
                                .getParent()
                                .getFileName()
                                .toString()));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void packsInTheSameOrderAgain(int parallelism) throws Exception {
        Trees.images(source(), 4, 100, 1500);
        String[] options = {"--chunk-size", "32kb", "--ingest-seed", "5", "--parallelism", "" + parallelism};

        Ingests.run(source(), directory.resolve("one"), options);
        Ingests.run(source(), directory.resolve("two"), options);

        assertThat(Packed.read(directory.resolve("two")).chunkKeys())
                .isEqualTo(Packed.read(directory.resolve("one")).chunkKeys());
    }

    @Test
    void shufflesByTheHashOfTheKey() throws Exception {
        Map<String, byte[]> files = Trees.images(source(), 4, 100, 1500);

        ingest("--ingest-seed", "5", "--parallelism", "1");

        List<String> expected = files.keySet().stream()
                .sorted(Comparator.comparing(
                        key -> KeyHash.hash(5, key.getBytes(StandardCharsets.UTF_8)), Long::compareUnsigned))
                .toList();
        assertThat(Packed.read(target()).keys()).isEqualTo(expected);
    }

    @Test
    void keepsEachTasksPartOfTheOrderAtAnyParallelism() throws Exception {
        Trees.images(source(), 4, 100, 1500);

        ingest("--ingest-seed", "5", "--parallelism", "4", "--chunk-size", "16kb");

        for (List<String> chunk : Packed.read(target()).chunkKeys()) {
            assertThat(chunk)
                    .isSortedAccordingTo(Comparator.comparing(
                            key -> KeyHash.hash(5, key.getBytes(StandardCharsets.UTF_8)), Long::compareUnsigned));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void keepsTheListingWhenAsked(int parallelism) throws Exception {
        Trees.file(source(), "b/2.txt", "x");
        Trees.file(source(), "b/10.txt", "x");
        Trees.file(source(), "b/sub/1.txt", "x");
        Trees.file(source(), "b c/1.txt", "x");
        Trees.file(source(), "a.txt", "x");
        Trees.file(source(), "z.txt", "x");
        for (int i = 1000; i < 2000; i++) {
            Trees.file(source(), "many/" + i + ".txt", "x");
        }

        ingest("--order", "listed", "--parallelism", "" + parallelism, "--chunk-size", "8kb");

        List<String> keys = Packed.read(target()).keys();
        assertThat(keys.subList(0, 6))
                .containsExactly("a.txt", "z.txt", "b/10.txt", "b/2.txt", "b/sub/1.txt", "b c/1.txt");
        assertThat(keys.subList(6, keys.size())).hasSize(1000).isSorted();
    }

    @Test
    void splitsByTheKeyAlikeInEveryIngest() throws Exception {
        Map<String, byte[]> files = Trees.images(source(), 4, 250, 100);

        ingest("--split", "val=0.1", "--split", "test=0.2", "--parallelism", "2", "--ingest-seed", "3");
        Map<String, String> one = splits(Packed.read(target()));
        Trees.images(source(), "more", 1, 50, 100);
        Ingests.run(
                source(), directory.resolve("two"), "--split", "val=0.1", "--split", "test=0.2", "--parallelism", "1");
        Map<String, String> two = splits(Packed.read(directory.resolve("two")));

        assertThat(one).hasSize(files.size());
        one.forEach((key, split) -> assertThat(two.get(key)).isEqualTo(split));
        assertThat(one.values().stream().filter("val"::equals).count()).isBetween(60L, 140L);
        assertThat(one.values().stream().filter("test"::equals).count()).isBetween(150L, 250L);
    }

    private static Map<String, String> splits(Packed packed) {
        Map<String, String> splits = new TreeMap<>();
        packed.samples().forEach(sample -> splits.put(sample.key(), sample.split()));
        return splits;
    }

    @Test
    void splitsAnAppendAsTheDatasetWasSplit() throws Exception {
        Trees.images(source(), "a", 1, 200, 100);
        ingest("--split", "val=0.3");
        Path more = directory.resolve("more");
        Map<String, byte[]> added = Trees.images(more, "b", 1, 200, 100);

        Ingests.run(more, target(), "--append");

        Map<String, String> splits = splits(Packed.read(target()));
        assertThat(added.keySet().stream()
                        .filter(key -> splits.get(key).equals("val"))
                        .count())
                .isBetween(35L, 85L);
    }

    @Test
    void splitsByTopDirectory() throws Exception {
        Trees.file(source(), "train/x/1.jpg", "1");
        Trees.file(source(), "val/x/1.jpg", "1");
        Trees.file(source(), "2.jpg", "1");

        ingest("--split-from", "top-dir");

        assertThat(splits(Packed.read(target())))
                .isEqualTo(Map.of("train/x/1.jpg", "train", "val/x/1.jpg", "val", "2.jpg", "train"));
    }

    @Test
    void takesOnlyTheFirstSamplesWhenLimited() throws Exception {
        Trees.images(source(), 4, 20, 100);

        ingest("--limit", "25", "--order", "listed");

        assertThat(Packed.read(target()).keys()).hasSize(25);
        Set<String> parents = new HashSet<>();
        Packed.read(target()).keys().forEach(key -> parents.add(key.substring(0, 2)));
        assertThat(parents).isEqualTo(Set.of("c0", "c1"));
    }

    @Test
    void refusesATargetThatHasAVersion() throws Exception {
        Trees.images(source(), 1, 3, 100);
        ingest();

        assertThatThrownBy(() -> ingest())
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("already has version 1")
                .hasMessageContaining("--append")
                .hasMessageContaining("--replace");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shuffled", "listed"})
    void appendsNewKeysAndRefusesExistingOnesByName(String order) throws Exception {
        Map<String, byte[]> files = Trees.images(source(), "a", 3, 50, 300);
        ingest("--label-from", "parent-dir", "--chunk-size", "8kb");
        Path more = directory.resolve("more");
        files.putAll(Trees.images(more, "b", 3, 50, 300));
        String[] options = {"--append", "--label-from", "parent-dir", "--order", order, "--parallelism", "2"};

        assertThat(Ingests.run(more, target(), options).version()).isEqualTo(2);
        assertSame(Packed.read(target()).bytes("image"), files);

        Path again = directory.resolve("again");
        Trees.images(again, "c", 3, 50, 300);
        Trees.file(again, "a1/7.jpg", "taken");
        assertThatThrownBy(() -> Ingests.run(again, target(), options))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("already has a sample with the key a1/7.jpg")
                .hasMessageNotContaining("\n");
        assertThat(Packed.latestVersion(target())).isEqualTo(2);
    }

    @Test
    void replacesAllSamples() throws Exception {
        Trees.images(source(), "a", 2, 20, 300);
        ingest("--label-from", "parent-dir");
        Path more = directory.resolve("more");
        Map<String, byte[]> files = Trees.images(more, "a", 2, 10, 500);

        Ingests.run(more, target(), "--replace", "--label-from", "parent-dir");

        Packed packed = Packed.read(target());
        assertSame(packed.bytes("image"), files);
        assertThat(packed.snapshot().version()).isEqualTo(2);
    }

    @Test
    void commitsOnceUnderOneIngestId() throws Exception {
        Trees.images(source(), 2, 20, 300);
        String id = "01234567-89ab-4cde-8f01-23456789abcd";

        IngestResult first = ingest("--ingest-id", id);
        IngestResult second = ingest("--ingest-id", id);

        assertThat(first.outcome()).isEqualTo(IngestResult.Outcome.COMMITTED);
        assertThat(second.outcome()).isEqualTo(IngestResult.Outcome.COMMITTED_BEFORE);
        assertThat(second.version()).isEqualTo(1);
        assertThat(second.samples()).isEqualTo(40);
        assertThat(Packed.latestVersion(target())).isEqualTo(1);
    }

    @Test
    void countsWhatItLeavesOut() throws Exception {
        Trees.file(source(), "a/1.jpg", "x");
        Trees.file(source(), "a/.hidden", "x");
        Trees.file(source(), "a/empty.jpg", "");
        Files.createSymbolicLink(source().resolve("a/loop"), source());
        Files.createSymbolicLink(source().resolve("a/broken.jpg"), Path.of("nowhere"));

        IngestResult result = ingest();

        assertThat(result.skipped())
                .isEqualTo(
                        Map.of(FileSkip.HIDDEN, 1L, FileSkip.EMPTY, 1L, FileSkip.LOOP, 1L, FileSkip.BROKEN_LINK, 1L));
        assertThat(result.examples().get(FileSkip.LOOP)).isEqualTo("a/loop");
        assertThat(result.lines())
                .anySatisfy(line -> assertThat(line).isEqualTo("left out: 1 hidden, such as a/.hidden"));
    }

    @Test
    void namesFieldsByTheKindOfTheFilesAndDecidesPayloadBySize() throws Exception {
        Trees.file(source(), "1.wav", "x".repeat(2000));
        Trees.file(source(), "2.wav", "x".repeat(100));
        ingest();
        assertThat(Packed.read(target()).snapshot().info().fields())
                .containsExactly(Field.payload("audio", FieldType.parse("binary")));

        Path texts = directory.resolve("texts");
        Trees.file(texts, "1.md", "caf\u00e9");
        Path target = directory.resolve("texts-target");
        Ingests.run(texts, target);
        assertThat(Packed.read(target).snapshot().info().fields())
                .containsExactly(Field.small("text", FieldType.parse("utf8")));
        assertThat(Packed.read(target).values("text")).isEqualTo(Map.of("1.md", "caf\u00e9"));

        Path data = directory.resolve("data");
        Trees.file(data, "1.bin", "x");
        Path dataTarget = directory.resolve("data-target");
        Ingests.run(data, dataTarget, "--field", "blob", "--payload", "blob");
        assertThat(Packed.read(dataTarget).snapshot().info().fields())
                .containsExactly(Field.payload("blob", FieldType.parse("binary")));
    }

    @Test
    void readsSidecarsAsFields() throws Exception {
        Trees.file(source(), "a.jpg", "aaa");
        Trees.file(source(), "a.txt", "a cat\n");
        Trees.file(source(), "a.n", " 17 ");
        Trees.file(source(), "b.jpg", "bbb");
        Trees.file(source(), "b.n", "-3");
        Trees.file(source(), "lone.txt", "x");

        IngestResult result =
                ingest("--sidecar", ".txt=caption:utf8", "--sidecar", ".n=count:int16", "--payload", "image");

        Packed packed = Packed.read(target());
        assertThat(packed.samples().stream().map(Packed.Sample::key)).containsExactlyInAnyOrder("a.jpg", "b.jpg");
        assertThat(packed.values("count")).isEqualTo(Map.of("a.jpg", 17L, "b.jpg", -3L));
        assertThat(packed.values("caption").get("a.jpg")).isEqualTo("a cat");
        assertThat(packed.values("caption").get("b.jpg")).isNull();
        assertThat(result.skipped()).isEqualTo(Map.of(FileSkip.LONE_SIDECAR, 1L));
    }

    @Test
    void takesLabelsByExpressionAndByTable() throws Exception {
        Trees.file(source(), "cat-1.jpg", "x");
        Trees.file(source(), "dog-2.jpg", "x");
        ingest("--label-from", "regex:^([a-z]+)-");
        assertThat(Packed.read(target()).values("label")).isEqualTo(Map.of("cat-1.jpg", "cat", "dog-2.jpg", "dog"));

        Path csv = directory.resolve("labels.csv");
        Files.writeString(csv, "cat-1.jpg,\"a, cat\"\ndog-2.jpg,dog\n");
        Path target = directory.resolve("by-table");
        Ingests.run(source(), target, "--label-from", "csv:" + csv, "--label-field", "animal");
        assertThat(Packed.read(target).values("animal")).isEqualTo(Map.of("cat-1.jpg", "a, cat", "dog-2.jpg", "dog"));
    }

    @Test
    void failsOnASampleWithoutALabelOrCountsIt() throws Exception {
        Trees.file(source(), "a/1.jpg", "x");
        Trees.file(source(), "2.jpg", "x");

        assertThatThrownBy(() -> ingest("--label-from", "parent-dir"))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("2.jpg is not in a directory");
        assertThat(Packed.latestVersion(target())).isZero();

        IngestResult result = ingest("--label-from", "parent-dir", "--on-error", "skip");
        assertThat(result.skipped()).isEqualTo(Map.of(FileSkip.NO_LABEL, 1L));
        assertThat(Packed.read(target()).keys()).containsExactly("a/1.jpg");
    }

    @Test
    void givesASampleAboveTheChunkSizeItsOwnChunk() throws Exception {
        Trees.file(source(), "big.jpg", "x".repeat(100_000));
        for (int i = 0; i < 20; i++) {
            Trees.file(source(), i + ".jpg", "x".repeat(1500));
        }

        ingest("--chunk-size", "16kb", "--parallelism", "1");

        assertThat(Packed.read(target()).chunkKeys()).contains(List.of("big.jpg"));
    }

    @Test
    void keepsNamesThatAreNotAscii() throws Exception {
        Trees.file(source(), "k\u00e4tze/\u4e16.jpg", "x");

        ingest("--label-from", "parent-dir");

        assertThat(Packed.read(target()).values("label")).isEqualTo(Map.of("k\u00e4tze/\u4e16.jpg", "k\u00e4tze"));
    }

    @Test
    void runsFromItsMainMethodAsFlinkRunDoes() throws Exception {
        Trees.images(source(), 2, 10, 300);

        IngestJob.main(new String[] {source().toString(), target().toString(), "--label-from", "parent-dir"});

        assertThat(Packed.read(target()).keys()).hasSize(20);
        assertThatThrownBy(() -> IngestJob.main(new String[] {source().toString(), "--ordr"}))
                .as("of which Flink's command prints no stack trace")
                .isInstanceOf(ProgramParametrizationException.class)
                .hasMessageStartingWith("stoker: unknown option --ordr")
                .hasCauseInstanceOf(InvalidIngestException.class);
    }
}

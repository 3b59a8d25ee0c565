package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.cli.look.GetVerb;
import dev.stoker.cli.output.KeyText;
import dev.stoker.ingest.spec.KeyFile;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.testing.KeyPathVectors;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The verbs {@code index}, {@code stat}, {@code ls} and {@code get}. */
class SampleVerbsTest {

    /** Names that would do harm as paths, or look like others. */
    private static final List<String> STRANGE = List.of(
            "../../etc/passwd",
            "/etc/passwd",
            "./../x",
            "a\0b",
            "a\nb",
            "a\tb\u001b[31m",
            "\"quoted\"",
            " space ",
            "%2e%2e/x",
            "..\\x",
            "caf\u00e9",
            "cafe\u0301",
            "\u0430/x",
            "a/x",
            "\u202egpj.exe",
            "a//b",
            "-rf",
            "_SUCCESS",
            ".tmp-1");

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeEach
    void create() throws IOException {
        try (ObjectStore store = new LocalObjectStore(photos())) {
            Dataset dataset = Dataset.create(store, SampleDatasets.info());
            commit(store, dataset, 0, "cats/1.jpg", "cats/2.jpg", "dogs/1.jpg", "readme");
            commit(store, dataset, 1, STRANGE.toArray(String[]::new));
        }
    }

    private static void commit(ObjectStore store, Dataset dataset, int number, String... keys) throws IOException {
        String ingest = "ingest-" + number;
        ChunkSummary chunk = SampleDatasets.write(store, SampleDatasets.id(number), ingest, "train", keys);
        SampleDatasets.committer(dataset)
                .commit(VersionRequest.append(
                        ingest,
                        List.of(chunk),
                        Map.of(
                                "label",
                                Stream.of(keys)
                                        .map(key -> key.substring(0, Math.max(0, key.indexOf('/'))))
                                        .toList()),
                        Map.of()));
    }

    private Path photos() {
        return directory.resolve("photos");
    }

    private int stoker(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Stoker.run(List.of(args), new PrintWriter(out, true), new PrintWriter(err, true));
    }

    private List<JsonNode> jsonLines() throws IOException {
        List<JsonNode> lines = new ArrayList<>();
        for (String line : out.toString().split("\n")) {
            lines.add(Json.PLAIN.readTree(line));
        }
        return lines;
    }

    private List<Path> runs() throws IOException {
        Path index = photos().resolve("_stoker/index");
        if (!Files.exists(index)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(index)) {
            return files.toList();
        }
    }

    @Test
    void indexBuildsWhatIsMissingAndCheckFindsNoDifference() throws IOException {
        assertThat(stoker("index", photos().toString(), "--check")).isZero();
        assertThat(out.toString()).contains("0 samples compared", "2 chunks are not in the index");

        assertThat(stoker("index", photos().toString())).isZero();
        assertThat(out.toString()).startsWith("version 2: 23 rows in 1 run, 1 written in ");
        assertThat(runs()).hasSize(1);
        assertThat(stoker("index", photos().toString())).isZero();
        assertThat(out.toString()).contains("0 written");
        assertThat(stoker("index", photos().toString(), "--rebuild", "--json")).isZero();
        assertThat(jsonLines().get(0).path("written").asInt()).isEqualTo(1);
        assertThat(stoker("index", photos().toString(), "--check")).isZero();
        assertThat(out.toString()).isEqualTo("version 2: 23 samples compared, no difference\n");
    }

    @Test
    void aDamagedRunIsReportedAndReplacedAndAnswersStayTheSame() throws IOException {
        stoker("index", photos().toString());
        byte[] run = Files.readAllBytes(runs().get(0));
        run[1000] ^= 4;
        Files.delete(runs().get(0));
        Files.write(photos().resolve("_stoker/index/00000000000000000001-00000000000000000002.arrow"), run);

        assertThat(stoker("index", photos().toString(), "--check")).isEqualTo(1);
        assertThat(out.toString()).contains("is corrupt: CRC32C of its batch 0", "1 difference; build the index again");
        assertThat(stoker("stat", photos().toString(), "cats/1.jpg", "--json")).isZero();
        assertThat(jsonLines().get(0).path("found").asBoolean()).isTrue();
        assertThat(stoker("index", photos().toString(), "--rebuild")).isZero();
        assertThat(stoker("index", photos().toString(), "--check")).isZero();
    }

    @Test
    void compactKeepsTheIndexUpToDate() throws IOException {
        stoker("index", photos().toString());
        assertThat(stoker("compact", photos().toString())).isZero();
        assertThat(out.toString()).contains("2 chunks became 1");
        assertThat(stoker("index", photos().toString(), "--check")).isZero();
        assertThat(out.toString()).isEqualTo("version 3: 23 samples compared, no difference\n");
        assertThat(runs()).hasSize(2);
    }

    @Test
    void compactBuildsNoIndexThatIsNotThere() throws IOException {
        assertThat(stoker("compact", photos().toString())).isZero();
        assertThat(runs()).isEmpty();
    }

    @Test
    void statAnswersForEveryKey() throws IOException {
        stoker("index", photos().toString());
        assertThat(stoker("stat", photos().toString(), "cats/2.jpg", "cats/3.jpg"))
                .isZero();
        assertThat(out.toString().split("\n"))
                .satisfiesExactly(
                        head -> assertThat(head).startsWith("KEY"),
                        found -> assertThat(found).matches("cats/2.jpg  train +\\d+ +[0-9a-f]{8} +0 +1"),
                        missing -> assertThat(missing).matches("cats/3.jpg  not found"));
        assertThat(stoker("stat", photos().toString() + "@1", "a//b", "--json")).isZero();
        assertThat(out.toString()).isEqualTo("{\"key\":\"a//b\",\"found\":false}\n");
        assertThat(stoker("stat", photos().toString())).isEqualTo(2);
        assertThat(err.toString()).contains("name at least one key");
    }

    @Test
    void samplesWithoutPayloadHaveNoChecksum() throws IOException {
        Path path = directory.resolve("labels");
        List<Field> fields = List.of(Field.small("label", FieldType.parse("utf8")));
        DatasetInfo info = new DatasetInfo(
                SampleDatasets.id(7), "labels", SampleDatasets.NOW, fields, Map.of("chunk_size", 8_388_608L));
        ChunkBuilder builder = new ChunkBuilder(fields, 1 << 16);
        builder.beginRow("one");
        builder.setBytes(0, StandardCharsets.UTF_8.encode("cat"));
        builder.endRow();
        PackedChunk chunk =
                builder.finish(new ChunkIdentity(info.id(), SampleDatasets.id(8), "i", "train", SampleDatasets.NOW));
        try (ObjectStore store = new LocalObjectStore(path)) {
            Dataset dataset = Dataset.create(store, info);
            try (ObjectWriter writer = store.write(ChunkNames.path(SampleDatasets.id(8)))) {
                for (ByteBuffer part : chunk.buffers()) {
                    writer.write(part.duplicate());
                }
                writer.commit();
            }
            SampleDatasets.committer(dataset)
                    .commit(VersionRequest.append("i", List.of(chunk.summary()), Map.of(), Map.of()));
        }

        assertThat(stoker("stat", path.toString(), "one", "two")).isZero();
        assertThat(out.toString().lines().map(line -> line.strip().replaceAll(" +", " ")))
                .containsExactly("KEY SPLIT BYTES CHUNK ROW", "one train 3 0 0", "two not found");
        for (String[] verb : new String[][] {{"stat", "one"}, {"get", "one"}, {"ls"}}) {
            List<String> arguments = new ArrayList<>(List.of(verb));
            arguments.add(1, path.toString());
            arguments.add("--json");
            assertThat(stoker(arguments.toArray(String[]::new))).isZero();
            JsonNode line = jsonLines().get(0);
            assertThat(line.path("found").asBoolean()).isTrue();
            assertThat(line.has("crc32c")).as(verb[0]).isFalse();
        }
        assertThat(stoker("stat", photos().toString(), "readme", "--json")).isZero();
        assertThat(jsonLines().get(0).path("crc32c").asText()).hasSize(8);
    }

    @Test
    void lsListsLikeAFileSystem() throws IOException {
        for (int round = 0; round < 2; round++) {
            assertThat(stoker("ls", photos().toString() + "@1")).isZero();
            assertThat(out.toString().lines().map(String::strip))
                    .containsExactly("prefix  cats/", "prefix  dogs/", "19 B  readme");
            assertThat(stoker("ls", photos().toString(), "cats/", "--version", "1", "--json"))
                    .isZero();
            assertThat(jsonLines())
                    .extracting(node -> node.path("key").asText())
                    .containsExactly("cats/1.jpg", "cats/2.jpg");
            assertThat(stoker("ls", photos().toString(), "--recursive", "--json", "--n", "20"))
                    .isZero();
            assertThat(jsonLines()).hasSize(20);
            stoker("index", photos().toString());
        }
    }

    @Test
    void everyLineOfLsIsOneKey() throws IOException {
        assertThat(stoker("ls", photos().toString(), "--recursive")).isZero();
        List<String> lines = out.toString().lines().toList();

        assertThat(lines).hasSize(23);
        assertThat(out.toString()).doesNotContain("\u001b", "\0", "\u202e", "\t");
        Path file = directory.resolve("keys.txt");
        Files.write(file, lines.stream().map(line -> line.substring(12)).toList());
        List<String> keys = new ArrayList<>();
        KeyFile.read(file.toString(), '\n', keys);
        assertThat(keys).hasSize(23).containsAll(STRANGE);
    }

    @Test
    void getPrintsThePayloadOfOneSample() {
        ByteArrayOutputStream raw = new ByteArrayOutputStream();
        StringWriter text = new StringWriter();
        int code = new CommandLine(new GetVerb(raw, () -> false))
                .setOut(new PrintWriter(text, true))
                .execute(photos().toString(), "../../etc/passwd");

        assertThat(code).isZero();
        assertThat(raw.toString(StandardCharsets.UTF_8)).isEqualTo("image of ../../etc/passwd");
        assertThat(text.toString()).isEmpty();
        assertThat(stoker("get", photos().toString(), "no such key")).isEqualTo(1);
        assertThat(err.toString()).isEqualTo("stoker: version 2 has no sample with the key no such key\n");
    }

    @Test
    void getTakesAFieldOfBytesOrText() {
        assertThat(stoker("get", photos().toString(), "readme", "--field", "label"))
                .isEqualTo(2);
        assertThat(err.toString())
                .isEqualTo("stoker: the dataset has no field label of bytes or text; choose image with --field; stoker"
                        + " get --json prints the other fields\n");
    }

    @Test
    void getPrintsJsonInTheOrderOfTheKeys() throws IOException {
        assertThat(stoker("get", photos().toString(), "dogs/1.jpg", "nothing", "a\0b", "dogs/1.jpg", "--json"))
                .isZero();
        List<JsonNode> lines = jsonLines();
        assertThat(lines).extracting(node -> node.path("found").asBoolean()).containsExactly(true, false, true, true);
        assertThat(lines.get(0).at("/fields/label").asText()).isEqualTo("dogs");
        assertThat(new String(lines.get(0).at("/fields/image").binaryValue(), StandardCharsets.UTF_8))
                .isEqualTo("image of dogs/1.jpg");
        assertThat(lines.get(2).path("key").asText()).isEqualTo("a\0b");
        assertThat(lines.get(3)).isEqualTo(lines.get(0));
    }

    @Test
    void getWritesStrangeKeysBelowTheDirectoryAndNowhereElse() throws IOException {
        Path keys = directory.resolve("keys.txt");
        Files.write(keys, STRANGE.stream().map(KeyText::line).toList());
        Path target = directory.resolve("deep/er/target");

        assertThat(stoker(
                        "get", photos().toString(), "--keys-from", keys.toString(), "--to", target.toString(), "gone"))
                .isZero();
        assertThat(out.toString()).startsWith("wrote 19 files, ").contains("; 1 key not found");
        assertThat(err.toString()).isEqualTo("not found: gone\n");
        try (Stream<Path> files = Files.walk(target)) {
            assertThat(files.filter(Files::isRegularFile))
                    .hasSize(19)
                    .allSatisfy(file -> assertThat(file).startsWith(target));
        }
        try (Stream<Path> others = Files.list(directory)) {
            assertThat(others.map(path -> path.getFileName().toString()))
                    .containsExactlyInAnyOrder("photos", "keys.txt", "deep");
        }
        assertThat(Files.readString(target.resolve("%2E./%2E./etc/passwd"))).isEqualTo("image of ../../etc/passwd");
        assertThat(Files.readString(target.resolve("a%0Ab"))).isEqualTo("image of a\nb");
    }

    @Test
    void getWritesKeysToThePathsOfTheVectors() throws IOException {
        for (Map<String, String> paths : List.of(KeyPathVectors.alone(), KeyPathVectors.beside())) {
            Path root = Files.createTempDirectory(directory, "odd");
            Path keys = root.resolve("keys");
            List<String> lines = new ArrayList<>();
            for (String key : paths.keySet()) {
                lines.add(Json.PLAIN.writeValueAsString(key));
            }
            Files.write(keys, lines);
            try (ObjectStore store = new LocalObjectStore(root.resolve("data"))) {
                commit(
                        store,
                        Dataset.create(store, SampleDatasets.info()),
                        0,
                        paths.keySet().toArray(String[]::new));
            }
            Path target = root.resolve("out");

            String data = root.resolve("data").toString();
            assertThat(stoker("get", data, "--keys-from", keys.toString(), "--to", target.toString()))
                    .isZero();

            Map<String, String> expected = new TreeMap<>();
            paths.forEach((key, path) -> expected.put(path, "image of " + key));
            Map<String, String> written = new TreeMap<>();
            try (Stream<Path> files = Files.walk(target)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    written.put(target.relativize(file).toString(), Files.readString(file));
                }
            }
            assertThat(written).isEqualTo(expected);
        }
    }

    @Test
    void getFollowsNoLinkOutOfTheDirectory() throws IOException {
        Path target = Files.createDirectories(directory.resolve("target"));
        Path outside = Files.createDirectories(directory.resolve("outside"));
        Files.createSymbolicLink(target.resolve("cats"), outside);

        assertThat(stoker("get", photos().toString(), "cats/1.jpg", "dogs/1.jpg", "--to", target.toString()))
                .isEqualTo(1);
        assertThat(err.toString()).contains("is not a directory, but is needed for the key cats/1.jpg");
        assertThat(outside).isEmptyDirectory();
        assertThat(target.resolve("dogs/1.jpg")).isRegularFile();
    }

    @Test
    void aKeyThatIsNoFileNameIsReadInOtherWays() throws IOException {
        String key = "x".repeat(4096);
        try (ObjectStore store = new LocalObjectStore(photos())) {
            commit(store, Dataset.open(store), 2, key);
        }
        assertThat(stoker(
                        "get",
                        photos().toString(),
                        key,
                        "--to",
                        directory.resolve("t").toString()))
                .isEqualTo(1);
        assertThat(err.toString())
                .contains(
                        "makes a path that is longer than the file system allows",
                        "without --to, for example with --json");
        assertThat(stoker("get", photos().toString(), key, "--json")).isZero();
        assertThat(jsonLines().get(0).path("key").asText()).isEqualTo(key);
    }
}

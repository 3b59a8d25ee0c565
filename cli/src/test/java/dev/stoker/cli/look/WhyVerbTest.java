package dev.stoker.cli.look;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.cli.Stoker;
import dev.stoker.cli.output.Errors;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WhyVerbTest {

    private static final int SAMPLES = 30;
    private static final String ORDER = "{\"seed\":7,\"batch_size\":4}";

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeEach
    void create() throws IOException {
        try (ObjectStore store = new LocalObjectStore(directory.resolve("data"))) {
            Dataset dataset = Dataset.create(store, SampleDatasets.info());
            for (int n = 0; n < 3; n++) {
                int from = 10 * n;
                String[] keys =
                        IntStream.range(from, from + 10).mapToObj(i -> "c/" + i).toArray(String[]::new);
                ChunkSummary chunk = SampleDatasets.write(store, SampleDatasets.id(n), "ingest-" + n, "train", keys);
                SampleDatasets.committer(dataset)
                        .commit(VersionRequest.append(
                                "ingest-" + n, List.of(chunk), Map.of("label", List.of("c")), Map.of()));
            }
        }
    }

    private int stoker(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Stoker.run(List.of(args), new PrintWriter(out, true), new PrintWriter(err, true));
    }

    private int why(String... args) {
        List<String> all = new ArrayList<>(List.of("why", directory.resolve("data") + ":train"));
        all.addAll(List.of(args));
        return stoker(all.toArray(String[]::new));
    }

    private List<JsonNode> lines() throws IOException {
        List<JsonNode> lines = new ArrayList<>();
        for (String line : out.toString().lines().toList()) {
            lines.add(Json.PLAIN.readTree(line));
        }
        return lines;
    }

    @Test
    void stepsHaveTheSamplesOfAnExportInTheOrderOfTheEpoch() throws IOException {
        Path target = directory.resolve("exported");
        assertThat(stoker(
                        "export",
                        directory.resolve("data") + ":train",
                        target.toString(),
                        "--format=jsonl",
                        "--columns=key",
                        "--order=epoch:5",
                        "--seed=7",
                        "--batch-size=4",
                        "--shards=1"))
                .as(err::toString)
                .isZero();
        List<String> exported = new ArrayList<>();
        try (var files = Files.list(target)) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith("jsonl")).toList()) {
                for (String line : Files.readAllLines(file)) {
                    exported.add(Json.PLAIN.readTree(line).path("key").asText());
                }
            }
        }
        assertThat(exported).hasSize(SAMPLES);
        List<String> explained = new ArrayList<>();
        for (int step = 0; step < 4; step++) {
            assertThat(why("--order", ORDER, "--epoch=5", "--step=" + step, "--world-size=2", "--tail=keep", "--json"))
                    .as(err::toString)
                    .isZero();
            for (JsonNode line : lines()) {
                assertThat(line.path("batch").asLong())
                        .isEqualTo(2L * step + line.path("rank").asLong());
                explained.add(line.path("key").asText());
            }
        }
        assertThat(explained).isEqualTo(exported);
    }

    @Test
    void aKeyIsInTheStepThatNamesIt() throws IOException {
        for (String world : List.of("1", "3")) {
            for (String start : List.of("0", "2")) {
                assertThat(why(
                                "--order",
                                ORDER,
                                "--key=c/17",
                                "--epochs=4",
                                "--world-size=" + world,
                                "--start=" + start,
                                "--json"))
                        .as(err::toString)
                        .isZero();
                for (JsonNode place : lines()) {
                    if (place.path("batch").asLong() < Long.parseLong(start)) {
                        assertThat(place.has("step")).isFalse();
                        continue;
                    }
                    assertThat(why(
                                    "--order",
                                    ORDER,
                                    "--epoch=" + place.path("epoch"),
                                    "--step=" + place.path("step"),
                                    "--rank=" + place.path("rank"),
                                    "--world-size=" + world,
                                    "--start=" + start,
                                    "--json"))
                            .as(err::toString)
                            .isZero();
                    JsonNode sample = lines().get(place.path("index").asInt());
                    assertThat(sample.path("key").asText()).isEqualTo("c/17");
                    assertThat(sample.path("batch")).isEqualTo(place.path("batch"));
                }
            }
        }
    }

    @Test
    void stepsLeaveOutSkippedBatches() throws IOException {
        // 8 batches; 0, 1, 2, 4 and 7 are left.
        List<String> skip = List.of("--order", ORDER, "--epoch=5", "--skip=5:3-3", "--skip=5:5-6", "--skip=4:0-7");
        List<List<Long>> taken = new ArrayList<>();
        for (int step = 0; step < 3; step++) {
            assertThat(why(skip, "--step=" + step, "--world-size=2", "--json"))
                    .as(err::toString)
                    .isZero();
            taken.add(lines().stream()
                    .map(line -> line.path("batch").asLong())
                    .distinct()
                    .toList());
        }
        assertThat(taken).containsExactly(List.of(0L, 1L), List.of(2L, 4L), List.of(7L, 8L)); // 8 repeats batch 0
        assertThat(why(skip, "--step=3", "--world-size=2")).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("the epoch has 3 steps");
        for (int sample = 0; sample < SAMPLES; sample++) {
            assertThat(why(skip, "--key=c/" + sample, "--world-size=2", "--json"))
                    .as(err::toString)
                    .isZero();
            JsonNode place = lines().get(0);
            long batch = place.path("batch").asLong();
            long slot = List.of(0L, 1L, 2L, 4L, 7L).indexOf(batch);
            assertThat(place.has("step")).isEqualTo(slot >= 0);
            if (slot >= 0) {
                assertThat(place.path("step").asLong()).isEqualTo(slot / 2);
                assertThat(place.path("rank").asLong()).isEqualTo(slot % 2);
            } else {
                assertThat(why(skip, "--key=c/" + sample)).isZero();
                assertThat(out.toString()).contains("left out by --skip");
            }
        }
        assertThat(why("--order", ORDER, "--step=0", "--skip=5:3")).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("option --skip: expected EPOCH:FIRST-LAST such as 2:100-119, found 5:3");
        assertThat(why("--order", ORDER, "--step=0", "--skip=0:8-9")).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("skip: epoch 0 has 8 batches, so it has no batches 8 to 9");
    }

    private int why(List<String> options, String... args) {
        List<String> all = new ArrayList<>(options);
        all.addAll(List.of(args));
        return why(all.toArray(String[]::new));
    }

    @Test
    void aStateGivesVersionSplitAndOrder() throws IOException {
        Path state = directory.resolve("state.json");
        String order = OrderSpec.fromJson(
                        OrderSpec.defaults().toJson().replace("\"batch_size\":64", "\"batch_size\":4"))
                .toJson();
        String text = "{\"stoker\":1,\"fingerprint\":\"0\",\"epoch\":3,\"batch\":2,\"dataset\":\""
                + SampleDatasets.info().id() + "\",\"version\":2,\"split\":\"train\",\"order\":" + order + "}";
        Files.writeString(state, text);
        assertThat(why("--state", state.toString(), "--step=0", "--json"))
                .as(err::toString)
                .isZero();
        assertThat(lines())
                .hasSize(4)
                .allMatch(line ->
                        line.path("epoch").asLong() == 3 && line.path("batch").asLong() == 2);
        // Version 2 has 20 samples, so batch 4 is its last one.
        assertThat(why("--state", state.toString(), "--batch=4"))
                .as(err::toString)
                .isZero();
        Files.writeString(state, text.replace("\"batch\":2,", "\"batch\":2,\"skip\":[[3,2,3],[4,0,0]],"));
        assertThat(why("--state", state.toString(), "--step=0", "--json")).isZero();
        assertThat(lines()).allMatch(line -> line.path("batch").asLong() == 4);
        Files.writeString(state, text);
        assertThat(why("--state", state.toString(), "--key=c/25")).isEqualTo(Errors.FAILED);
        assertThat(out.toString()).contains("c/25", "not in the stream");
        Files.writeString(
                state, text.replace(SampleDatasets.info().id().toString(), "00000000-0000-0000-0000-000000000001"));
        assertThat(why("--state", state.toString(), "--step=0")).isEqualTo(Errors.FAILED);
        assertThat(err.toString()).contains("the state is of dataset 00000000");
    }

    @Test
    void stepsCountFromThePositionOfTheState() throws IOException {
        Path state = directory.resolve("state.json");
        String order = OrderSpec.fromJson(
                        OrderSpec.defaults().toJson().replace("\"batch_size\":64", "\"batch_size\":4"))
                .toJson();
        // 30 samples have 8 batches.
        for (long position = 0; position <= 8; position++) {
            Files.writeString(
                    state,
                    "{\"stoker\":1,\"fingerprint\":\"0\",\"epoch\":3,\"batch\":" + position + ",\"dataset\":\""
                            + SampleDatasets.info().id() + "\",\"version\":3,\"split\":\"train\",\"order\":" + order
                            + "}");
            List<String> saved = List.of("--state", state.toString(), "--world-size=2", "--json");
            List<String> typed =
                    List.of("--order", order, "--epoch=3", "--start=" + position, "--world-size=2", "--json");
            for (String what : List.of("--step=0", "--step=3", "--step=9", "--key=c/3", "--key=c/29", "--batch=5")) {
                List<String> expected =
                        what.startsWith("--batch") ? List.of("--order", order, "--epoch=3", "--json") : typed;
                int code = why(expected, what);
                String named = out.toString();
                String failure = err.toString();
                assertThat(why(saved, what)).isEqualTo(code);
                assertThat(out.toString()).isEqualTo(named);
                assertThat(err.toString()).isEqualTo(failure);
            }
            // Another epoch begins at its first batch, and the option wins.
            assertThat(why(saved, "--epoch=4", "--step=0")).isZero();
            assertThat(lines().get(0).path("batch").asLong()).isZero();
            assertThat(why(saved, "--start=0", "--step=0")).isZero();
            assertThat(lines().get(0).path("batch").asLong()).isZero();
        }
        assertThat(why("--state", state.toString(), "--key=c/3", "--epochs=2")).isZero();
        assertThat(out.toString()).contains("before the position of --state");
        assertThat(why("--state", state.toString(), "--step=0")).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("the epoch has 0 steps, from batch 8 on");
    }

    @Test
    void aFileThatIsNoStateIsRefusedWithItsName() throws IOException {
        Path state = directory.resolve("state.json");
        String whole = "{\"stoker\":1,\"fingerprint\":\"0\",\"epoch\":3,\"batch\":2,\"dataset\":\""
                + SampleDatasets.info().id() + "\",\"version\":3,\"split\":\"train\",\"order\":"
                + OrderSpec.defaults().toJson() + "}";
        for (String[] wrong : new String[][] {
            {"{", "is not JSON"},
            {"{\"model\":" + whole + "}", "is not the state of a feed"},
            {"[]", "is not the state of a feed"},
            {whole.replace("\"batch\":2", "\"batch\":\"x\""), "batch: expected a number from 0 on, found \"x\""},
            {whole.replace("\"batch\":2,", ""), "batch: expected a number from 0 on, found nothing"},
            {whole.replace("\"epoch\":3", "\"epoch\":-1"), "epoch: expected a number from 0 on, found -1"},
            {whole.replace("\"version\":3", "\"version\":null"), "version: expected a number from 0 on, found null"},
            {whole.replace("\"batch\":2", "\"batch\":2,\"skip\":[[1]]"), "skip: expected [epoch,first,last], found [1]"
            },
        }) {
            Files.writeString(state, wrong[0]);
            assertThat(why("--state", state.toString(), "--step=0")).isEqualTo(Errors.USAGE);
            assertThat(err.toString()).contains("option --state: " + state, wrong[1]);
        }
        Files.writeString(state, whole.replace("\"stoker\":1", "\"stoker\":2"));
        assertThat(why("--state", state.toString(), "--step=0")).isEqualTo(Errors.FAILED);
        assertThat(err.toString()).contains(state.toString(), "format version 2");
        Files.writeString(state, whole.replace("\"stoker\":1", "\"stoker\":1,\"requires\":[\"x\"]"));
        assertThat(why("--state", state.toString(), "--step=0")).isEqualTo(Errors.FAILED);
        assertThat(err.toString()).contains("needs the feature 'x'");
    }

    @Test
    void wrongUseSaysWhatToType() {
        assertThat(why("--order", ORDER)).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("give one of --step, --batch and --key");
        assertThat(why("--step=1")).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("--state FILE or --order JSON");
        assertThat(why("--order", "{", "--step=1")).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("option --order: not JSON");
        assertThat(why("--order", ORDER, "--step=99")).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("the epoch has 8 steps");
        assertThat(why("--order", ORDER, "--batch=1", "--start=1")).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("--start needs --step or --key");
        assertThat(stoker("why", "--step=1")).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("give --feed NAME");
        assertThat(stoker("why", "--feed=nothing-here", "--step=1")).isEqualTo(Errors.FAILED);
        assertThat(err.toString()).contains("there is no feed nothing-here");
    }
}

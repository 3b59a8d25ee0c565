package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.metadata.CommitRequest;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.schemas.chunk.ChunkSummary;
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
                        .commit(CommitRequest.append(
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
            lines.add(Json.MAPPER.readTree(line));
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
                    exported.add(Json.MAPPER.readTree(line).path("key").asText());
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
        assertThat(lines()).hasSize(4).allMatch(line -> line.path("epoch").asLong() == 3);
        // Version 2 has 20 samples, so batch 4 is its last one.
        assertThat(why("--state", state.toString(), "--batch=4"))
                .as(err::toString)
                .isZero();
        assertThat(why("--state", state.toString(), "--key=c/25")).isEqualTo(Errors.FAILED);
        assertThat(out.toString()).contains("c/25", "not in the stream");
        Files.writeString(
                state, text.replace(SampleDatasets.info().id().toString(), "00000000-0000-0000-0000-000000000001"));
        assertThat(why("--state", state.toString(), "--step=0")).isEqualTo(Errors.FAILED);
        assertThat(err.toString()).contains("the state is of dataset 00000000");
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
        assertThat(stoker("why", "--step=1")).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("give --feed NAME");
        assertThat(stoker("why", "--feed=nothing-here", "--step=1")).isEqualTo(Errors.FAILED);
        assertThat(err.toString()).contains("there is no feed nothing-here");
    }
}

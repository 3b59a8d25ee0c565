package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.flink.embedded.ListeningSockets.Socket;
import dev.stoker.schemas.json.Json;
import dev.stoker.server.TestDataset;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import dev.stoker.storage.hadoop.HadoopSettings;
import dev.stoker.storage.hadoop.HdfsCluster;
import dev.stoker.storage.hadoop.S3Server;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Measurements of a real HDFS and S3 server, and of a real feeder. No figure is compared with a time. */
@Timeout(300)
@Tag("full-programs")
class BenchITCase {

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private void run(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        assertThat(Stoker.run(List.of(args), new PrintWriter(out, true), new PrintWriter(err, true)))
                .as(() -> out + "\n" + err)
                .isZero();
    }

    @Test
    void storageMeasuresS3AndHdfsAndRemovesItsFiles() throws IOException {
        HadoopSettings.use(S3Server.shared().settings());
        try {
            for (String target : List.of(
                    "s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID(),
                    HdfsCluster.shared().uri() + "/" + UUID.randomUUID())) {
                run(
                        "bench",
                        "storage",
                        target,
                        "--size=128k",
                        "--block-size=64k",
                        "--depth=2",
                        "--rounds=1",
                        "--seconds=0.2",
                        "--json");
                JsonNode result = Json.PLAIN.readTree(out.toString());
                assertThat(result.path("reads")).hasSize(2).allSatisfy(read -> {
                    assertThat(read.path("cache").asText()).isEqualTo("remote");
                    assertThat(read.at("/bytes_per_s/median").asDouble()).isPositive();
                });
                assertThat(result.path("metadata")).hasSize(7);
                try (ObjectStore store = Stores.open(target)) {
                    assertThat(store.list("").toList()).isEmpty();
                }
            }
        } finally {
            HadoopSettings.clear();
        }
    }

    @Test
    void feedMeasuresEachTransportBesideThePlainStreamAndListensAsDocumented() throws Exception {
        int[] rows = new int[20];
        Arrays.fill(rows, 40);
        String data = TestDataset.create(directory.resolve("photos"), 3, 2000, rows)
                .path()
                .toString();
        Path temporary = Files.createDirectory(directory.resolve("tmp"));
        String output;
        try (StokerProcess process = StokerProcess.start(
                temporary, "bench", "feed", data, "--batch-size=16", "--seconds=1", "--rounds=1", "--json")) {
            while (process.isAlive()) {
                assertThat(process.sockets()).hasSizeLessThanOrEqualTo(1).allMatch(Socket::isLocal);
            }
            output = process.output();
            assertThat(process.code()).as(output).isZero();
        }
        String json =
                output.lines().filter(line -> line.startsWith("{")).findFirst().orElseThrow();
        JsonNode result = Json.PLAIN.readTree(json);
        assertThat(result.path("dataset").asText()).isEqualTo("photos");
        assertThat(result.at("/first_epoch/samples").asLong()).isPositive();
        assertThat(result.path("systems").findValuesAsText("transport"))
                .containsExactly("tcp", "tcp", "tcp", "unix", "unix", "local-reads");
        assertThat(result.path("systems"))
                .allSatisfy(system ->
                        assertThat(system.at("/bytes_per_s/median").asDouble()).isPositive());
        // Its ledger must not be in the dataset.
        assertThat(directory.resolve("photos/_stoker/feeds")).doesNotExist();
        assertThat(temporary.toFile().list()).allMatch(name -> !name.startsWith("stoker-bench-"));

        Path file = Files.writeString(directory.resolve("feed.json"), json);
        Path page = directory.resolve("bench.html");
        run("bench", "report", file.toString(), "-o", page.toString());
        assertThat(out.toString())
                .contains("photos, tcp: ", "resnet50, h100: no estimate from ", "llm, h100: keeps ", "wrote " + page);
        assertThat(Files.readString(page)).contains("photos, first epoch", "<svg");
        assertThat(directory.resolve("bench.svg")).isNotEmptyFile();
        assertThat(directory.resolve("bench.png")).isNotEmptyFile();
    }

    @Test
    void emulatedAcceleratorsConsumeARunningFeed() throws Exception {
        String data = TestDataset.create(directory.resolve("photos"), 3, 100, 30, 30)
                .path()
                .toString();
        Path shape = Files.writeString(
                directory.resolve("shape.yaml"),
                "name: tiny\nrecord_length_bytes: 50\nbatch_size: 4\ncomputation_time: 0.001\nau: 0.01\n");
        try (StokerProcess feed = StokerProcess.start(directory, "feed", data, "--name=bench-demand", "--port=0")
                .await("ready at")) {
            run(
                    "bench",
                    "demand",
                    "--shape",
                    shape.toString(),
                    "--accelerators=2",
                    "--against=bench-demand",
                    "--seconds=0.5",
                    "--rounds=2",
                    "--json");
            JsonNode result = Json.PLAIN.readTree(out.toString()).at("/runs/0");
            assertThat(result.path("accelerators").asInt()).isEqualTo(2);
            assertThat(result.at("/utilization/median").asDouble()).isBetween(0.0, 1.0);
            assertThat(result.at("/samples_per_s/median").asDouble()).isPositive();
            assertThat(feed.isAlive()).isTrue();
        }
    }

    /** A terminal sends Ctrl-C to all processes: with one child, while the feeder starts, and with two, later. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void ctrlCEndsTheMeasurementOfAFeedAndItsProcesses(int running) throws Exception {
        String data = TestDataset.create(directory.resolve("photos"), 3, 100, 30, 30)
                .path()
                .toString();
        Path temporary = Files.createDirectory(directory.resolve("tmp"));
        try (StokerProcess process = StokerProcess.start(
                temporary, "bench", "feed", data, "--batch-size=4", "--seconds=1000", "--rounds=1")) {
            while (process.children().size() < running) {
                assertThat(process.isAlive()).as(process.output()).isTrue();
            }
            List<ProcessHandle> children = process.children();
            for (ProcessHandle child : children) {
                new ProcessBuilder("kill", "-INT", Long.toString(child.pid()))
                        .start()
                        .waitFor();
            }
            process.signal("INT");
            assertThat(process.code()).as(process.output()).isEqualTo(130);
            assertThat(process.output()).contains("the measurement was stopped; its files are removed");
            children.forEach(child -> child.onExit().join());
        }
        assertThat(temporary.toFile().list()).allMatch(name -> !name.startsWith("stoker-bench-"));
    }

    @Test
    void ctrlCRemovesTheTestFiles() throws Exception {
        Path target = Files.createDirectory(directory.resolve("target"));
        try (StokerProcess process =
                StokerProcess.start(directory, "bench", "storage", target.toString(), "--size=16m")) {
            process.awaitThread("stoker-progress");
            while (target.toFile().list().length == 0) {
                assertThat(process.isAlive()).as(process.output()).isTrue();
            }
            process.signal("INT");
            assertThat(process.code()).as(process.output()).isEqualTo(130);
            assertThat(process.output()).contains("the measurement was stopped; its files are removed");
        }
        assertThat(target).isEmptyDirectory();
    }
}

package dev.stoker.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.cli.Stoker;
import dev.stoker.schemas.json.Json;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The measurements that need no feeder. No figure is compared with a time. */
class BenchVerbTest {

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int stoker(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Stoker.run(List.of(args), new PrintWriter(out, true), new PrintWriter(err, true));
    }

    private JsonNode json() throws IOException {
        return Json.PLAIN.readTree(out.toString());
    }

    @Test
    void storageOfADirectoryIsATableOrJson() throws IOException {
        String[] small = {
            "bench",
            "storage",
            directory.toString(),
            "--size",
            "1m",
            "--block-size",
            "4k,64k",
            "--depth",
            "2",
            "--rounds",
            "2",
            "--seconds",
            "0.1"
        };
        assertThat(stoker(small)).as(err::toString).isZero();
        assertThat(out.toString())
                .contains(directory + ": 1 test file, 1.05 MB, written at ", "sequential  warm", "4 KiB", "64 KiB")
                .contains("create", "delete", "warm: all files were read before");

        String[] asJson = Stream.concat(Stream.of(small), Stream.of("--json")).toArray(String[]::new);
        assertThat(stoker(asJson)).isZero();
        assertThat(json().path("bench").asText()).isEqualTo("storage");
        assertThat(json().at("/reads/0/bytes_per_s/rounds")).isNotEmpty();
        assertThat(json().path("metadata")).isNotEmpty();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void storageOfADatasetReadsItsChunksAndWritesNothing() throws IOException {
        TestDataset dataset = TestDataset.create(directory.resolve("photos"), 3, 1000, 9, 8);
        List<Path> before = files();
        assertThat(stoker(
                        "bench",
                        "storage",
                        dataset.path().toString(),
                        "--block-size",
                        "1k,16m",
                        "--depth=1",
                        "--seconds=0.1"))
                .as(err::toString)
                .isZero();
        assertThat(out.toString())
                .contains(": 2 chunks", "no file has a block of 16 MiB")
                .doesNotContain("written at", "create");
        assertThat(files()).isEqualTo(before);
    }

    @Test
    void aFileCanHaveSeveralResults() throws IOException {
        String[] storage = {"bench", "storage", directory.toString(), "--size=64k", "--block-size=4k", "--depth=1"};
        assertThat(stoker(Stream.concat(Stream.of(storage), Stream.of("--seconds=0.01", "--rounds=1", "--json"))
                        .toArray(String[]::new)))
                .as(err::toString)
                .isZero();
        String both = out.toString();
        assertThat(stoker("bench", "demand", "--shape=unet3d", "--json")).isZero();
        Path file = Files.writeString(directory.resolve("both.json"), both + out);
        Path page = directory.resolve("page.html");
        assertThat(stoker("bench", "report", file.toString(), "-o", page.toString()))
                .as(err::toString)
                .isZero();
        assertThat(Files.readString(page)).contains("storage " + directory + ": ", "demand: ");

        assertThat(stoker("bench", "report", Files.writeString(file, "{}}").toString(), "-o", page.toString()))
                .isOne();
        assertThat(err.toString()).contains("both.json is not JSON");
        assertThat(stoker("bench", "report", Files.writeString(file, "\n").toString(), "-o", page.toString()))
                .isOne();
        assertThat(err.toString()).contains("both.json has no result");
    }

    @Test
    void thePlainStreamSendsChunksThatFitInMemory() throws IOException {
        String dataset = TestDataset.create(directory.resolve("photos"), 3, 1000, 9, 8, 7)
                .path()
                .toString();
        assertThat(BenchSender.chunks("photos=" + dataset, Long.MAX_VALUE)).hasSize(3);
        assertThat(BenchSender.chunks(dataset, 1)).hasSize(1);
        assertThat(BenchSender.chunks("s3a://bucket/photos", 1)).isEmpty();
    }

    @Test
    void memoryKeepsChunksInThePageCacheOrInATier() {
        assertThat(BenchTarget.keptBytes("./photos", 100, 30)).isEqualTo(100);
        assertThat(BenchTarget.keptBytes("s3a://bucket/photos", 100, 30)).isEqualTo(30);
        assertThat(BenchTarget.keptBytes("hdfs://name/photos", 100, 70)).isEqualTo(50);
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.sorted().toList();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2 | bench | missing: storage",
                "2 | bench nosuch | unexpected argument nosuch",
                "2 | bench storage | missing: TARGET",
                "2 | bench storage x --size y | 'y' is not a size",
                "2 | bench storage x --rounds 0 | option --rounds: 0 must be positive",
                "2 | bench storage x --seconds 0 | option --seconds",
                "1 | bench storage nosuch | there is no directory",
                "2 | bench storage x --seconds y | option --seconds: 'y' is not a number",
                "2 | bench storage x --size 1m | have no block of 16 MiB; use a greater --size",
                "2 | bench feed x --batch-size 0 | option --batch-size: 0 is not between 1 and 65535",
                "2 | bench demand --seconds 0 | option --seconds",
                "2 | bench demand --rounds 0 | option --rounds",
                "2 | bench demand --accelerator v100 | expected h100, a100 or b200",
                "1 | bench demand --shape nosuch | known shapes are",
                "2 | bench report x.json --accelerator v100 | expected h100, a100 or b200",
                "2 | bench report x.json --network Infinity | option --network",
                "2 | bench report x.json --dataset y | give either results or --dataset",
                "1 | bench report x.json | there is no file x.json",
                "1 | bench report --dataset nosuch | nosuch",
                "1 | bench report --dataset nosuch -o nosuch/x.html | there is no directory",
                "1 | bench report --dataset nosuch -o . | . is a directory; give a file",
                "1 | bench report x.json -o x.json | x.json is also a result",
            })
    void mistakesAreToldInLinesThatSayWhatToDo(int code, String args, String message) {
        assertThat(stoker(args.split(" "))).isEqualTo(code);
        assertThat(err.toString()).contains(message);
        assertThat(err.toString().lines()).allMatch(line -> line.startsWith("stoker: "));
        assertThat(out.toString()).isEmpty();
    }
}

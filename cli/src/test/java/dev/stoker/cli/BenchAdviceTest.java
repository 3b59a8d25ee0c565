package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Follows the advice of measurements, and of the page that shows a dataset. */
class BenchAdviceTest extends AdvisedVerbs {

    private static final List<String> SHORT = List.of("--seconds=0.01", "--rounds=1");

    private String[] storage(String... options) {
        List<String> words = new ArrayList<>(List.of("bench", "storage", directory.toString()));
        words.addAll(SHORT);
        words.addAll(List.of(options));
        return words.toArray(String[]::new);
    }

    @Test
    void sizesOfTestFiles() {
        String[] small = storage("--size=64k", "--depth=1");
        assertThat(said(2, small)).contains("use a greater --size or a smaller --block-size");
        assertHelps(2, List.of("--block-size", "4k"), small);
        assertThat(said(2, storage("--size=2g", "--block-size=1g", "--depth=8")))
                .contains("use a smaller --block-size or --depth");
        said(0, storage("--size=64k", "--block-size=4k", "--depth=2"));
        assertThat(said(1, storage("--size=1000000g", "--block-size=4k"))).contains("use a smaller --size");
    }

    @Test
    void resultsOfMeasurements() throws IOException {
        Path file = Files.writeString(directory.resolve("r.json"), "{}");
        Path page = directory.resolve("page.html");
        assertThat(said(2, "bench", "report")).contains("give either results or --dataset");
        assertThat(said(1, "bench", "report", file.toString(), "-o", page.toString()))
                .contains("expected the output of stoker bench … --json");
        said(0, storage("--size=64k", "--block-size=4k", "--depth=1", "--json"));
        Files.writeString(file, out.toString());
        said(0, "bench", "report", file.toString(), "-o", page.toString());
        assertThat(Files.readString(page)).contains("run stoker bench feed");
    }

    @Test
    void whatThePageDoesNotShow() throws IOException {
        // Of a condition on payload, of many samples, and of a large value.
        String target = directory.resolve("exported").toString();
        said(
                0,
                "export",
                path(),
                target,
                "--format",
                "jsonl",
                "--columns",
                "key,label",
                "--where",
                "image IS NOT NULL");
        assertThat(Path.of(target))
                .isDirectoryContaining(file -> file.toString().endsWith(".jsonl"));
        said(0, "get", path(), key(0, 0), "--json");
        said(0, "index", path());
        said(0, "compact", path());
        said(0, "diff", path(), "1", "2");
    }

    @Test
    void anIndexThatCouldNotBeBuilt() throws IOException {
        said(0, "index", path());
        Path index = dataset.path().resolve("_stoker/index");
        Path source = Files.createDirectories(directory.resolve("source"));
        Files.writeString(source.resolve("t.csv"), "a\n1\n");
        String target = directory.resolve("my table").toString();
        Path inTheWay = Path.of(target, "_stoker", "index");
        Files.createDirectories(inTheWay.getParent());
        Files.writeString(inTheWay, "");
        String said = said(0, "ingest", source.toString(), target, "--parallelism", "1");
        Files.delete(inTheWay);
        follow(said, "stoker index");
        assertThat(index).isDirectory();
    }
}

package dev.stoker.cli.keep;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.Stoker;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RebuildVerbTest {

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... words) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Stoker.run(List.of(words), new PrintWriter(out, true), new PrintWriter(err, true));
    }

    private String target() {
        return directory.resolve("target").toString();
    }

    private void ingest(String name, String... options) throws IOException {
        Path source = directory.resolve(name);
        for (int i = 0; i < 30; i++) {
            Path file = source.resolve(i % 3 + "/" + name + i + ".jpg");
            Files.createDirectories(file.getParent());
            Files.writeString(file, "image " + i);
        }
        String[] words = Stream.concat(
                        Stream.of("ingest", source.toString(), target(), "--label-from", "parent-dir"),
                        Stream.of(options))
                .toArray(String[]::new);
        assertThat(run(words)).as(err.toString()).isZero();
    }

    @BeforeEach
    void makeDataset() throws IOException {
        ingest("a", "--split", "val=0.3", "--chunk-size", "4kb");
        ingest("b", "--append");
    }

    private String listing() {
        assertThat(run("ls", target(), "--recursive", "--json")).isZero();
        return out.toString();
    }

    @Test
    void makesADatasetOfChunksAlone() throws IOException {
        String before = listing();
        try (Stream<Path> files = Files.walk(directory.resolve("target/_stoker"))) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }

        assertThat(run("rebuild", target(), "--dry-run")).as(err.toString()).isZero();
        assertThat(out.toString()).contains("would make 1 version of");
        assertThat(directory.resolve("target/_stoker")).doesNotExist();

        assertThat(run("rebuild", target())).as(err.toString()).isZero();
        assertThat(out.toString())
                .contains("made 1 version of")
                .contains("the newest has 60 samples")
                .contains("note: samples that were deleted come back");
        assertThat(run("verify", target())).as(out.toString()).isZero();
        assertThat(run("index", target(), "--check")).as(out.toString()).isZero();
        assertThat(keys(listing())).isEqualTo(keys(before));
        assertThat(run("ingest", directory.resolve("a").toString(), target(), "--label-from", "parent-dir", "--append"))
                .as("a key is known")
                .isEqualTo(1);
        assertThat(err.toString()).contains("already has a sample with the key");
    }

    /** The listing without the places of the samples, which may differ. */
    private static List<String> keys(String listing) {
        return listing.lines()
                .map(line -> line.replaceAll(",?\"(chunk|row|ordinal)\":\"?[^,}\"]*\"?", ""))
                .toList();
    }

    @Test
    void refusesADatasetThatHasALog() {
        assertThat(run("rebuild", target())).isEqualTo(1);
        assertThat(err.toString()).contains("stoker recover").contains("move _stoker away");
    }
}

package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SyncVerbTest {

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String verb, String... options) {
        List<String> args = new ArrayList<>(List.of(
                verb,
                directory.resolve("source").toString(),
                directory.resolve("target").toString(),
                "--parallelism",
                "1"));
        args.addAll(List.of(options));
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Stoker.run(args, new PrintWriter(out, true), new PrintWriter(err, true));
    }

    private void file(String key, String text) throws IOException {
        Path file = directory.resolve("source").resolve(key);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    @BeforeEach
    void ingest() throws IOException {
        for (int i = 0; i < 4; i++) {
            file("cat/" + i + ".jpg", "image " + i);
        }
        assertThat(run("ingest")).as(err.toString()).isZero();
    }

    @Test
    void printsWhatItWouldDoAndDoesIt() throws IOException {
        file("cat/0.jpg", "IMAGE 0");
        for (int i = 10; i < 22; i++) {
            file("dog/" + i + ".jpg", "dog");
        }
        Files.delete(directory.resolve("source/cat/3.jpg"));

        assertThat(run("sync", "--dry-run", "--delete")).as(err.toString()).isZero();
        List<String> lines = out.toString().lines().toList();
        assertThat(lines)
                .startsWith(
                        "compared with version 1: 12 new, 1 changed and 2 unchanged files; 1 sample to remove",
                        "+ dog/10.jpg")
                .containsSequence("+ and 2 more", "~ cat/0.jpg", "- cat/3.jpg")
                .endsWith("nothing was written; run without --dry-run to commit");

        assertThat(run("sync")).as(err.toString()).isZero();
        assertThat(out.toString().lines().toList())
                .anyMatch(line -> line.startsWith("version 2: 12 samples added, 1 replaced, 0 removed; 2 unchanged, "))
                .contains("kept: 1 sample whose files are gone, such as cat/3.jpg; --delete removes them");

        assertThat(run("sync", "--delete", "--json")).as(err.toString()).isZero();
        JsonNode json = Json.MAPPER.readTree(out.toString());
        assertThat(json.path("version").asLong()).isEqualTo(3);
        assertThat(json.at("/changes/removed/first_keys/0").asText()).isEqualTo("cat/3.jpg");
        assertThat(json.at("/changes/unchanged/count").asLong()).isEqualTo(15);

        assertThat(run("sync", "--delete")).as(err.toString()).isZero();
        assertThat(out.toString()).startsWith("nothing to commit: version 3 agrees with the files");
    }

    @Test
    void reportsAllProblemsOfItsOptions() {
        assertThat(run("sync", "--delete", "--on-error", "skip", "--append")).isEqualTo(2);
        assertThat(err.toString()).contains("--delete needs --on-error fail").contains("--append");
    }
}

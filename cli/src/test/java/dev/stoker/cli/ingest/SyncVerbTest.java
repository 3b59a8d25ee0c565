package dev.stoker.cli.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.cli.Stoker;
import dev.stoker.cli.output.Errors;
import dev.stoker.schemas.json.Json;
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

    private String target = "target";
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String verb, String... options) {
        List<String> args = new ArrayList<>(List.of(
                verb,
                directory.resolve("source").toString(),
                directory.resolve(target).toString(),
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
    void samplesThatWereDeletedStayDeletedWithTheirKeysExcluded() throws IOException {
        Path keys = Files.writeString(directory.resolve("bad.txt"), "cat/1.jpg\ncat/3.jpg\n");
        String dataset = directory.resolve(target).toString();
        assertThat(Stoker.run(
                        List.of("delete", dataset, "--keys-from", keys.toString(), "--yes"),
                        new PrintWriter(out, true),
                        new PrintWriter(err, true)))
                .as(err.toString())
                .isZero();
        file("cat/4.jpg", "image 4");

        assertThat(run("sync", "--exclude-keys-from", keys.toString(), "--dry-run"))
                .as(err.toString())
                .isZero();
        assertThat(out.toString().lines().toList())
                .startsWith("compared with version 2: 1 new, 0 changed, 0 of another class and 2 unchanged files;"
                        + " 0 samples to remove")
                .contains("+ cat/4.jpg", "left out: 2 unwanted by name or key, such as cat/1.jpg");

        assertThat(run("sync")).as(err.toString()).isZero();
        assertThat(out.toString()).startsWith("version 3: 3 samples added, ");

        target = "other";
        assertThat(run("ingest", "--exclude-keys-from", keys.toString()))
                .as(err.toString())
                .isZero();
        assertThat(out.toString()).contains("3 samples");
        assertThat(run("sync", "--exclude-keys-from", "none.txt")).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("option --exclude-keys-from: there is no file none.txt");
        assertThat(run("sync", "--exclude-keys-from", directory.toString())).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("the file of keys " + directory + " cannot be read: Is a directory");
        assertThat(run("ingest", "--exclude-keys-from", "-")).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("write them to a file");
    }

    @Test
    void keysOfTheListWithoutAFileAreNamed() throws IOException {
        file("dog/.hidden/1.jpg", "hidden");
        StringBuilder list = new StringBuilder("cat/1.jpg\ndog/.hidden/1.jpg\n");
        for (int i = 0; i < 6; i++) {
            list.append("cats/").append(i).append(".jpg\n");
        }
        Path keys = Files.writeString(directory.resolve("bad.txt"), list.toString());
        String noted = "noted: 6 of 8 keys of --exclude-keys-from match no file of the source: cats/0.jpg, cats/1.jpg,"
                + " cats/2.jpg, cats/3.jpg, cats/4.jpg, …";
        for (String[] options : new String[][] {{"--dry-run"}, {"--dry-run", "--limit", "1"}}) {
            assertThat(run("ingest", with(options, "--append", "--exclude-keys-from", keys.toString())))
                    .isZero();
            assertThat(out.toString().lines()).contains(noted);
        }
        assertThat(run("ingest", "--dry-run", "--json", "--append", "--exclude-keys-from", keys.toString()))
                .isZero();
        JsonNode plan = Json.PLAIN.readTree(out.toString());
        assertThat(plan.path("dry_run").asBoolean()).isTrue();
        assertThat(plan.path("plan").toString()).contains(noted);
        assertThat(plan.at("/excluded_keys/unmatched").asLong()).isEqualTo(6);
        assertThat(run("sync", "--dry-run", "--exclude-keys-from", keys.toString()))
                .isZero();
        assertThat(out.toString().lines()).contains(noted);
        target = "other";
        assertThat(run("ingest", "--exclude-keys-from", keys.toString())).isZero();
        assertThat(err.toString().lines()).contains(noted);
        assertThat(out.toString().lines()).contains(noted);
        assertThat(run("sync", "--exclude-keys-from", keys.toString(), "--json"))
                .isZero();
        JsonNode excluded = Json.PLAIN.readTree(out.toString()).path("excluded_keys");
        assertThat(excluded.path("given").asLong()).isEqualTo(8);
        assertThat(excluded.path("unmatched").asLong()).isEqualTo(6);
        assertThat(excluded.at("/first_unmatched/4").asText()).isEqualTo("cats/4.jpg");
        Files.writeString(keys, "cat/1.jpg\n");
        assertThat(run("sync", "--exclude-keys-from", keys.toString())).isZero();
        assertThat(out.toString()).doesNotContain("match");
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
                        "compared with version 1: 12 new, 1 changed, 0 of another class and 2 unchanged files; 1 sample"
                                + " to remove",
                        "+ dog/10.jpg")
                .containsSequence("+ and 2 more", "~ cat/0.jpg", "- cat/3.jpg")
                .endsWith("nothing was written; run without --dry-run to commit");

        assertThat(run("sync")).as(err.toString()).isZero();
        assertThat(out.toString().lines().toList())
                .anyMatch(line -> line.startsWith("version 2: 12 samples added, 1 replaced, 0 removed; 2 unchanged, "))
                .contains("kept: 1 sample whose files are gone, such as cat/3.jpg; --delete removes them");

        assertThat(run("sync", "--delete", "--json")).as(err.toString()).isZero();
        JsonNode json = Json.PLAIN.readTree(out.toString());
        assertThat(json.path("version").asLong()).isEqualTo(3);
        assertThat(json.at("/changes/removed/first_keys/0").asText()).isEqualTo("cat/3.jpg");
        assertThat(json.at("/changes/unchanged/count").asLong()).isEqualTo(15);

        assertThat(run("sync", "--delete")).as(err.toString()).isZero();
        assertThat(out.toString()).startsWith("nothing to commit: version 3 agrees with the files");
    }

    @Test
    void aPlanOfRowsAndOfAnExportIsJson() throws IOException {
        Path table = Files.writeString(directory.resolve("t.csv"), "a\n1\n");
        String rows = directory.resolve("rows").toString();
        assertThat(stoker("ingest", table.toString(), rows, "--dry-run", "--json"))
                .isZero();
        assertThat(Json.PLAIN.readTree(out.toString()).path("plan")).isNotEmpty();
        String dataset = directory.resolve(target).toString();
        assertThat(stoker("export", dataset, rows, "--format", "parquet", "--dry-run", "--json"))
                .isZero();
        assertThat(Json.PLAIN.readTree(out.toString()).path("plan")).isNotEmpty();
    }

    @Test
    void reportsAllProblemsOfItsOptions() {
        assertThat(run("sync", "--delete", "--on-error", "skip", "--append")).isEqualTo(2);
        assertThat(err.toString()).contains("--delete needs --on-error fail").contains("--append");
    }

    private JsonNode field(String key, String name) throws IOException {
        assertThat(stoker("get", directory.resolve(target).toString(), key, "--json"))
                .as(err.toString())
                .isZero();
        return Json.PLAIN.readTree(out.toString()).path("fields").path(name);
    }

    private int stoker(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Stoker.run(List.of(args), new PrintWriter(out, true), new PrintWriter(err, true));
    }

    @Test
    void valuesOfAnUpdateStay() throws IOException {
        String[] options = {"--label-from", "csv:" + directory.resolve("labels.csv"), "--sidecar", ".txt=text:utf8"};
        StringBuilder labels = new StringBuilder();
        for (int i = 0; i < 6; i++) {
            file("cat/" + i + ".jpg", "image " + i);
            file("cat/" + i + ".txt", "caption " + i);
            labels.append("cat/").append(i).append(".jpg,cat\n");
        }
        Files.writeString(directory.resolve("labels.csv"), labels);
        String dataset = directory.resolve("labelled").toString();
        target = "labelled";
        assertThat(run("ingest", with(options, "--payload", "image")))
                .as(err.toString())
                .isZero();
        Path fix = Files.writeString(directory.resolve("fix.csv"), """
                key,label,text,score
                cat/0.jpg,dog,caption 0,
                cat/1.jpg,cat,corrected,
                cat/2.jpg,cat,caption 2,0.5
                """);
        assertThat(stoker("update", dataset, fix.toString(), "--add", "score=float32", "--yes"))
                .as(err.toString())
                .isZero();

        assertThat(run("sync", options)).as(err.toString()).isZero();
        assertThat(out.toString()).startsWith("nothing to commit: version 2 agrees with the files");

        file("cat/0.jpg", "IMAGE 0");
        file("cat/2.jpg", "larger image 2");
        file("cat/3.jpg", "IMAGE 3");
        Files.writeString(
                directory.resolve("labels.csv"), labels.toString().replace("cat/4.jpg,cat", "cat/4.jpg,bird"));
        String kept = "kept: 2 samples with values that stoker update has set, although the files have changed, such as"
                + " cat/0.jpg; --replace-updated replaces them";
        assertThat(run("sync", with(options, "--dry-run"))).as(err.toString()).isZero();
        assertThat(out.toString().lines())
                .startsWith("compared with version 2: 0 new, 1 changed, 1 of another class and 2 unchanged files;"
                        + " 0 samples to remove")
                .contains("~ cat/3.jpg", "~ class of cat/4.jpg", kept);
        assertThat(run("sync", options)).as(err.toString()).isZero();
        assertThat(out.toString())
                .startsWith("version 3: 0 samples added, 2 replaced (1 for another class), 0 removed; 2 unchanged, ")
                .contains(kept);
        assertThat(field("cat/0.jpg", "label").asText()).isEqualTo("dog");
        assertThat(field("cat/4.jpg", "label").asText()).isEqualTo("bird");

        // A compaction writes the values into the chunk.
        assertThat(stoker("compact", dataset)).as(err.toString()).isZero();
        file("cat/5.jpg", "IMAGE 5");
        assertThat(run("sync", with(options, "--json"))).as(err.toString()).isZero();
        JsonNode changes = Json.PLAIN.readTree(out.toString()).path("changes");
        assertThat(changes.at("/changed/first_keys").toString()).isEqualTo("[\"cat/5.jpg\"]");
        assertThat(changes.at("/updated/first_keys").toString())
                .isEqualTo("[\"cat/0.jpg\",\"cat/1.jpg\",\"cat/2.jpg\"]");
        assertThat(field("cat/0.jpg", "label").asText()).isEqualTo("dog");
        assertThat(field("cat/1.jpg", "text").asText()).isEqualTo("corrected");
        assertThat(field("cat/2.jpg", "score").asDouble()).isEqualTo(0.5);

        assertThat(run("sync", with(options, "--replace-updated")))
                .as(err.toString())
                .isZero();
        assertThat(out.toString()).contains("0 samples added, 3 replaced, 0 removed; 3 unchanged");
        assertThat(field("cat/0.jpg", "label").asText()).isEqualTo("cat");
        assertThat(field("cat/1.jpg", "text").asText()).isEqualTo("caption 1");
        assertThat(field("cat/2.jpg", "score").isNull()).isTrue();
    }

    private static String[] with(String[] options, String... more) {
        List<String> all = new ArrayList<>(List.of(options));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }
}

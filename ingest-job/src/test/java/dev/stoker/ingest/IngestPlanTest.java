package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.ingest.spec.InvalidIngestException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an ingest finds in its source before it begins, and what it warns of. */
class IngestPlanTest {

    @TempDir
    private Path directory;

    private Path source;
    private Path target;

    @BeforeEach
    void makeTree() throws IOException {
        source = directory.resolve("source");
        target = directory.resolve("target");
        Trees.file(source, "a/1.jpg", "x");
    }

    private IngestOptions parse(String... options) {
        return Ingests.options(source, target, options);
    }

    private List<String> warnings(String... options) throws IOException {
        return IngestJob.plan(parse(options)).lines().stream()
                .filter(line -> line.startsWith("warning"))
                .toList();
    }

    @Test
    void warnsOfCaptionsAndOtherFilesBesideImages() throws IOException {
        for (int i = 0; i < 5; i++) {
            Trees.file(source, i + ".jpg", "x");
        }
        Trees.file(source, "1.txt", "a cat");
        Trees.file(source, "2.txt", "a dog");
        Trees.file(source, "Thumbs.db", "x");
        assertThat(warnings("--dry-run"))
                .singleElement()
                .asString()
                .contains(
                        "3 of 9 files have no image extension (.txt 2, .db 1)",
                        "--sidecar .txt=caption:utf8",
                        "leave unrelated files out with --exclude '*.db'");
        assertThat(warnings("--dry-run", "--exclude", "*.db", "--sidecar", ".txt=caption:utf8"))
                .isEmpty();
    }

    /** The first 1,000 files of a tree can be those of one class. */
    @Test
    void warnsOfFilesBehindTheFirstThousand() throws IOException {
        Files.delete(source.resolve("a/1.jpg"));
        for (int i = 0; i < 1001; i++) {
            Trees.file(source, "a/" + i + ".jpg", "x");
        }
        Trees.file(source, "b/1.jpg", "x");
        Trees.file(source, "b/Thumbs.db", "x");
        for (String[] options : new String[][] {{}, {"--dry-run"}}) {
            assertThat(IngestJob.plan(
                                    parse(Stream.concat(Stream.of("--label-from", "parent-dir"), Arrays.stream(options))
                                            .toArray(String[]::new)))
                            .lines())
                    .contains("classes of 1,003 samples: a, b")
                    .anyMatch(line -> line.contains("1 of 1,003 files has no image extension (.db 1)"));
        }
    }

    @Test
    void filesOfOtherDirectoriesAreNoSidecars() throws IOException {
        for (int i = 0; i < 5; i++) {
            Trees.file(source, "images/" + i + ".jpg", "x");
            Trees.file(source, "masks/" + i + ".png", "x");
            Trees.file(source, "ann/" + i + ".json", "{}");
        }
        Files.delete(source.resolve("a/1.jpg"));
        assertThat(warnings("--dry-run"))
                .anyMatch(line -> line.contains("(.json 5)") && line.contains("name both in a table with --read"))
                .anyMatch(line -> line.contains("the directories images and ann becomes a separate sample"))
                .noneMatch(line -> line.contains("--sidecar") || line.contains("parent-dir"));
    }

    @Test
    void aTableOfClassesForOtherFilesIsRefused() throws IOException {
        Path table = directory.resolve("labels.csv");
        Files.writeString(table, "other.jpg,cat\n");
        assertThatThrownBy(() -> IngestJob.plan(parse("--dry-run", "--label-from", "csv:" + table)))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("none of 1 sample gets a class: " + table + " has no line for a/1.jpg");
        Files.writeString(table, "a/1.jpg,cat\n");
        Trees.file(source, "a/2.jpg", "x");
        assertThat(IngestJob.plan(parse("--dry-run", "--label-from", "csv:" + table))
                        .lines())
                .anyMatch(line -> line.startsWith("ends the ingest: 1 of 2 samples without a class: ")
                        && line.contains("no line for a/2.jpg"));
    }

    @Test
    void warnsOfFilesThatHoldManySamples() throws IOException {
        Trees.file(source, "a/part-0.parquet", "PAR1");
        Trees.file(source, "a/shard-000.tar", "x");
        assertThatThrownBy(() -> warnings("--dry-run"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("1 file of parquet (a/part-0.parquet) and 1 file of webdataset");
        assertThat(warnings("--dry-run", "--format", "files"))
                .hasSize(2)
                .anySatisfy(line -> assertThat(line)
                        .contains(
                                "1 of 3 files is a file of parquet (a/part-0.parquet)",
                                "stoker ingest '" + source + "/**.parquet' TARGET --format parquet"))
                .anySatisfy(line -> assertThat(line).contains("is a file of webdataset", "--format webdataset"));
    }

    @Test
    void namesTheSidecarThatFilesAreLikelyToBe() throws IOException {
        Trees.file(source, "b/2.jpg", "x");
        Trees.file(source, "b/2.json", "{}");
        assertThat(warnings("--dry-run")).singleElement().asString().contains("--sidecar .json=caption:utf8");
        Files.move(source.resolve("b/2.json"), source.resolve("b/Thumbs.db"));
        assertThat(warnings("--dry-run"))
                .singleElement()
                .asString()
                .contains("(.db 1)", "leave unrelated files out with --exclude '*.db'")
                .doesNotContain("--sidecar");
    }

    @Test
    void textBesideOtherFilesIsBinary() throws IOException {
        Path texts = directory.resolve("texts");
        for (int i = 0; i < 5; i++) {
            Trees.file(texts, i + ".txt", "text");
        }
        Trees.file(texts, "LICENSE", "text");
        assertThat(IngestJob.plan(Ingests.options(texts, target)).lines())
                .contains("field  text: utf8")
                .noneMatch(line -> line.contains("not text"));

        Trees.file(texts, "9.png", "x");
        assertThat(IngestJob.plan(Ingests.options(texts, target)).lines())
                .contains("field  data: binary")
                .anyMatch(line -> line.contains("1 of 7 files is not text (.png 1), so the field is binary")
                        && line.contains("--field text:utf8"));
        assertThat(IngestJob.plan(Ingests.options(texts, target, "--field", "text:utf8"))
                        .lines())
                .contains("field  text: utf8");
    }

    @Test
    void warnsOfClassDirectoriesWithoutLabels() throws IOException {
        for (int i = 0; i < 12; i++) {
            Trees.file(source, (i % 2 == 0 ? "a/" : "b/") + i + ".jpg", "x");
        }
        assertThat(warnings("--dry-run"))
                .singleElement()
                .asString()
                .contains("2 directories", "--label-from parent-dir");
        assertThat(warnings("--dry-run", "--label-from", "parent-dir")).isEmpty();
        assertThat(warnings("--dry-run", "--split-from", "top-dir")).isEmpty();
    }

    @Test
    void plansWithoutWriting() throws IOException {
        Trees.file(source, "b/1.jpg", "x".repeat(4000));

        IngestPlan plan = IngestJob.plan(parse("--dry-run", "--label-from", "parent-dir", "--split", "val=0.5"));

        assertThat(plan.lines())
                .contains(
                        "field  image: binary, payload",
                        "classes of 2 samples: a, b",
                        "2 samples, 4.00 kB, about 1 chunk");
        assertThat(target).doesNotExist();
    }
}

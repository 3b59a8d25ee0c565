package dev.stoker.ingest.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.ingest.RowIngestJob;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sources of rows in which a file, a column or a name says something else than the others. */
class OddFilesTest {
    @TempDir
    private Path directory;

    private Path source;

    @BeforeEach
    void createSource() throws IOException {
        source = Files.createDirectory(directory.resolve("source"));
    }

    private void file(String name, String text) throws IOException {
        Path file = source.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private List<String> plan(String... options) throws IOException {
        return planOf(source, options);
    }

    private List<String> planOf(Path place, String... options) throws IOException {
        String[] arguments = Stream.concat(
                        Stream.of(place.toString(), directory.resolve("data").toString(), "--dry-run"),
                        Arrays.stream(options))
                .toArray(String[]::new);
        assertThat(RowDetection.isRows(arguments)).isTrue();
        return RowIngestJob.plan(RowIngestOptions.parse(arguments));
    }

    private void writeTables(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            file(String.format("m%03d.csv", i), "a,b\n" + i + ",x\n");
        }
    }

    @Test
    void anOtherFileIsLeftOutWithTheOptionAndCounted() throws IOException {
        for (String odd : List.of("a.txt", "z.txt")) {
            writeTables(40);
            file(odd, "made by hand\n");
            assertThatThrownBy(() -> plan("--key", "a"))
                    .isInstanceOf(InvalidIngestException.class)
                    .hasMessageContaining("1 other file (" + odd + ")");
            assertThat(plan("--key", "a", "--on-error", "skip"))
                    .anyMatch(line -> line.contains("(40 files of csv"))
                    .anyMatch(line -> line.startsWith("left out: 1 file that cannot be read, such as")
                            && line.contains(odd + " (is no file of csv)"));
            Files.delete(source.resolve(odd));
        }
    }

    @Test
    void textOfJsonIsBase64ForAFieldOfBytes() throws IOException {
        try (ObjectStore store = new LocalObjectStore(directory.resolve("data"))) {
            Dataset.create(
                    store,
                    new DatasetInfo(
                            UUID.randomUUID(),
                            "data",
                            Instant.parse("2026-01-01T00:00:00Z"),
                            List.of(Field.payload("image", ScalarType.BINARY)),
                            Map.of(),
                            Map.of()));
        }
        file("a.jsonl", "{\"image\":\"AAE=\"}\n");
        assertThatThrownBy(() -> plan("--append"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("the column image: bytes in JSON are base64; --type image=binary reads them");
        assertThat(plan("--append", "--type", "image=binary"))
                .anyMatch(line -> line.contains("image") && line.contains("binary"));
    }

    @Test
    void aFaultyFileIsNamedAndLeftOutWithTheOption() throws IOException {
        for (String odd : List.of("a.jsonl", "z.jsonl")) {
            for (int i = 0; i < 3; i++) {
                file("m" + i + ".jsonl", "{\"a\":" + i + "}\n");
            }
            file(odd, "# made by hand\n{\"a\":9}\n");
            assertThat(faults())
                    .as(odd)
                    .contains("the line at offset 0 is damaged")
                    .contains(odd);
            assertThat(plan("--on-error", "skip"))
                    .as(odd)
                    .anyMatch(line -> line.startsWith("left out: ") && line.contains(odd));
            Files.delete(source.resolve(odd));
        }
    }

    /** Returns what a plan says about the faulty file: as an error, or in its lines. */
    private String faults() throws IOException {
        try {
            return String.join("\n", plan("--on-error", "fail"));
        } catch (InvalidIngestException e) {
            return e.getMessage();
        }
    }

    @Test
    void theReasonIsTheOneOfTheFormatThatTheNameSays() throws IOException {
        file("dup.jsonl", "{\"a\": 1, \"a\": 2}\n");
        assertThatThrownBy(() -> planOf(source.resolve("dup.jsonl"))).hasMessageContaining("dup.jsonl");
        Files.write(source.resolve("wide.jsonl"), "{\"s\": 1}\n".getBytes(StandardCharsets.UTF_16));
        assertThatThrownBy(() -> planOf(source.resolve("wide.jsonl"))).hasMessageContaining("is not UTF-8");
        file("page.parquet", "<html>503 Service Unavailable</html>");
        assertThatThrownBy(() -> planOf(source.resolve("page.parquet")))
                .hasMessageContaining("page.parquet is damaged");
        file("none.tfrecord", "");
        assertThatThrownBy(() -> planOf(source.resolve("none.tfrecord"))).hasMessageContaining("empty");
        file("none.parquet", "");
        assertThatThrownBy(() -> planOf(source.resolve("none.parquet"))).hasMessageContaining("is empty");
    }

    @Test
    void aForeignFileIsNamedAlsoIfTheFormatIsGiven() throws IOException {
        Files.write(source.resolve("a.tar.xz"), new byte[] {(byte) 0xfd, '7', 'z', 'X', 'Z', 0, 0, 0, 0, 0, 0, 0});
        assertThatThrownBy(() -> planOf(source.resolve("a.tar.xz"), "--format", "webdataset"))
                .hasMessageContaining("a.tar.xz is compressed with xz, which Stoker does not read; decompress it");
    }

    @Test
    void aColumnThatNamesFilesAndOneOfSplitsSayWhatToAdd() throws IOException {
        file("photos/1.jpg", "x");
        file("photos/2.jpg", "x");
        file("table.csv", "filepath,class,part\nphotos/1.jpg,cat,train\nphotos/2.jpg,dog,test\n");
        Path table = source.resolve("table.csv");

        assertThat(planOf(table, "--label", "class"))
                .anyMatch(line -> line.startsWith("warning: the column filepath names files, such as photos/1.jpg")
                        && line.contains("--read filepath=image"))
                .anyMatch(line -> line.startsWith("warning: the column part has names of splits, such as train")
                        && line.contains("--split-by part"));
        assertThat(planOf(table, "--read", "filepath=image", "--split-by", "part"))
                .noneMatch(line -> line.startsWith("warning"));
        assertThat(planOf(table, "--read", "filepath=image", "--split", "train=1"))
                .noneMatch(line -> line.startsWith("warning"));
        Files.delete(source.resolve("photos/1.jpg"));
        assertThat(planOf(table, "--split-by", "part")).noneMatch(line -> line.startsWith("warning"));
    }

    @Test
    void aTypeForAColumnThatTheFirstRowsLackIsNoted() throws IOException {
        for (String file : List.of("a.csv", "a.jsonl")) {
            file(file, file.endsWith("csv") ? "age,name\n1,x\n" : "{\"age\":1,\"name\":null}\n");
            Path table = source.resolve(file);
            assertThat(planOf(table, "--type", "agee=int8", "--type", "name=utf8"))
                    .contains("note: the first rows of " + table
                            + " have no column agee; because of its type it becomes a field")
                    .noneMatch(line -> line.startsWith("note") && line.contains("name"));
            assertThat(planOf(table, "--type", "age=int8", "--type", "name=utf8"))
                    .noneMatch(line -> line.startsWith("note"));
            Files.delete(table);
        }
    }

    @Test
    void patternsAndNamesSelectFiles() throws IOException {
        writeTables(3);
        file("sub/x.csv", "a,b\n9,x\n");
        file("sub/notes.md", "text");
        assertThat(plan("--include", "*.csv")).anyMatch(line -> line.contains("(4 files of csv"));
        assertThat(plan("--exclude", "sub"))
                .anyMatch(line -> line.contains("(3 files of csv"))
                .contains("left out: 1 unwanted by name or key, such as sub");
        assertThat(planOf(source.resolve("**/*.csv"))).anyMatch(line -> line.contains("(4 files of csv"));
        assertThatThrownBy(() -> planOf(source, "--key", "a", "--include", "*.tsv"))
                .hasMessageContaining("contains no files");
    }
}

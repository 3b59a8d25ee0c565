package dev.stoker.ingest.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RowDetectionTest {
    @TempDir
    Path directory;

    private void file(String name, String text) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private boolean isRows(String... options) {
        return RowDetection.isRows(
                Stream.concat(Stream.of(directory.toString(), directory + "-dataset"), Arrays.stream(options))
                        .toArray(String[]::new));
    }

    @Test
    void filesOfOneFormatAreRows() throws IOException {
        file("a/1.csv", "a,b\n1,2\n");
        file("b/2.csv", "a,b\n3,4\n");

        assertThat(isRows()).isTrue();
        assertThat(isRows("--format", "files")).isFalse();
    }

    @Test
    void filesOfSeveralFormatsAndOtherFilesAreFiles() throws IOException {
        file("1.csv", "a,b\n1,2\n");
        file("2.jsonl", "{\"a\":1}\n");
        assertThat(isRows()).isFalse();

        Files.delete(directory.resolve("2.jsonl"));
        file("2.jpg", "no rows");
        assertThat(isRows()).isFalse();
        assertThat(isRows("--format", "csv")).isTrue();
        assertThat(isRows("--columns", "a")).isTrue();
    }

    @Test
    void textsAboutTheDataAreNoFilesOfTheSource() throws IOException {
        file("data/1.csv", "a,b\n1,2\n");
        file("README.md", "# Data\n");
        file("LICENSE", "free\n");
        assertThat(isRows()).isTrue();

        Files.delete(directory.resolve("data/1.csv"));
        assertThat(isRows()).isFalse();
    }

    /** Such a file could also be an archive without members. */
    @Test
    void filesOfZerosAreFiles() throws IOException {
        file("1.jpg", "\0".repeat(10240));

        assertThat(isRows()).isFalse();
    }

    @Test
    void anOptionThatOnlyFilesHaveDecides() throws IOException {
        file("cat/1.json", "{\"a\":1}\n{\"a\":2}\n");

        assertThat(isRows()).isTrue();
        for (String option : List.of("--label-from=parent-dir", "--sidecar=.txt=caption:utf8", "--field=json:utf8")) {
            assertThat(isRows(option)).as(option).isFalse();
        }
    }

    @Test
    void severalSourcesAreRows() {
        assertThat(RowDetection.isRows("a", "b", "dataset")).isTrue();
    }

    @Test
    void aSourceThatCannotBeReadIsLeftToTheIngestOfFiles() {
        assertThat(RowDetection.isRows(directory.resolve("nothing").toString(), "dataset"))
                .isFalse();
        assertThat(RowDetection.isRows()).isFalse();
    }

    @Test
    void theFormatIsTakenOutOfTheArguments() {
        assertThat(RowDetection.withoutFormat("a", "--format", "files", "b")).containsExactly("a", "b");
        assertThat(RowDetection.withoutFormat("a", "b", "--format=files")).containsExactly("a", "b");
    }
}

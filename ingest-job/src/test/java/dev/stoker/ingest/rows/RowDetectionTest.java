package dev.stoker.ingest.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.ingest.spec.InvalidIngestException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import java.util.zip.DeflaterOutputStream;
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
    void filesOfSeveralFormatsAreRefusedWithTheOptionsThatHelp() throws IOException {
        file("1.csv", "a,b\n1,2\n");
        file("2.jsonl", "{\"a\":1}\n");
        assertThatThrownBy(this::isRows)
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("has files of several kinds: 1 file of csv (1.csv) and 1 file of jsonl (2.jsonl)")
                .hasMessageContaining("--include '*.csv'")
                .hasMessageContaining("--format files");
        assertThat(isRows("--include", "*.csv")).isTrue();
        assertThat(isRows("--exclude", "2.jsonl")).isTrue();
        assertThat(isRows("--format", "files")).isFalse();
        assertThat(isRows("--format", "csv")).isTrue();
        assertThat(isRows("--columns", "a")).isTrue();
    }

    /** A table that describes images is a file beside them, about which the ingest warns. */
    @Test
    void imagesWithAFewTablesAreFiles() throws IOException {
        file("1.csv", "a,b\n1,2\n");
        file("2.jpg", "no rows");
        assertThat(isRows()).isFalse();
    }

    @Test
    void anOtherFileIsNamedWhereverItIsInTheListing() throws IOException {
        for (int i = 0; i < 1200; i++) {
            file(String.format("m%04d.csv", i), "a,b\n1,2\n");
        }
        for (String odd : List.of("a.txt", "z.txt", "m0040b.txt")) {
            file(odd, "made by hand\n");
            assertThatThrownBy(this::isRows)
                    .as(odd)
                    .hasMessageContaining("1,200 files of csv (such as m0000.csv) and 1 other file (" + odd + ")")
                    .hasMessageContaining("leave it out with --exclude " + odd);
            assertThat(isRows("--exclude", odd)).isTrue();
            assertThat(isRows("--on-error", "skip")).isTrue();
            Files.delete(directory.resolve(odd));
        }
    }

    @Test
    void aFileIsWhatItsNameSaysIfItsContentIsFaulty() throws IOException {
        for (String content :
                List.of("{\"a\": 1, \"a\": 2}\n", "# made by hand\n", "[{\"a\": 9}]\n", "\u00ff\u00fe{", "a,b")) {
            file("a.jsonl", content);
            assertThat(isRows()).as(content).isTrue();
        }
        file("b.parquet", "<html>503 Service Unavailable</html>");
        assertThatThrownBy(this::isRows).hasMessageContaining("1 file of jsonl (a.jsonl) and 1 file of parquet");
        Files.delete(directory.resolve("a.jsonl"));
        assertThat(isRows()).isTrue();
    }

    @Test
    void formatsThatStokerDoesNotReadAreNamed() throws IOException {
        Map<String, String> heads = Map.of(
                "a.orc", "ORC",
                "b.array_record", "\u0083\u00afp\u00d1\r\u0088J?",
                "c.feather", "FEA1",
                "d.zip", "PK\u0003\u0004",
                "e.tar.xz", "\u00fd7zXZ\u0000");
        for (Map.Entry<String, String> head : heads.entrySet()) {
            Path file = directory.resolve(head.getKey());
            Files.writeString(file, head.getValue() + "\0".repeat(64), StandardCharsets.ISO_8859_1);
            assertThatThrownBy(this::isRows)
                    .as(head.getKey())
                    .isInstanceOf(InvalidIngestException.class)
                    .hasMessageContaining("1 file of a kind that Stoker does not read: ")
                    .hasMessageContaining(head.getKey())
                    .hasMessageContaining("--format files");
            assertThatThrownBy(() -> RowDetection.isRows(file.toString(), directory + "-dataset"))
                    .as(head.getKey())
                    .hasMessageContaining("which Stoker does not read; ")
                    .hasMessageNotContaining("--format files");
            assertThat(isRows("--format", "files")).isFalse();
            Files.delete(file);
        }
    }

    @Test
    void aTfRecordFileOfZlibIsNamed() throws IOException {
        ByteBuffer record =
                ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN).putLong(1);
        CRC32C crc = new CRC32C();
        crc.update(record.array(), 0, 8);
        record.putInt(Integer.rotateRight((int) crc.getValue(), 15) + 0xa282ead8);
        try (OutputStream out = new DeflaterOutputStream(Files.newOutputStream(directory.resolve("a.tfrecord")))) {
            out.write(record.array());
            out.write(new byte[5]);
        }
        assertThatThrownBy(this::isRows)
                .hasMessageContaining("a TFRecord file with ZLIB compression (a.tfrecord)")
                .hasMessageContaining("write it with GZIP");
    }

    /** Names of this machine that exist are no patterns. */
    @Test
    void aDirectoryWithTheCharactersOfAPatternIsADirectory() throws IOException {
        for (String name : List.of("data[2024]", "a{b,c}", "what?", "star*", "open[")) {
            file(name + "/sub/rows.jsonl", "{\"a\": 1}\n{\"a\": 2}\n");
            String source = directory.resolve(name).toString();
            for (String place : List.of(source, source + "/sub", source + "/**/*.jsonl", source + "/sub/r*")) {
                assertThat(RowDetection.isRows(place, directory + "-dataset"))
                        .as(place)
                        .isTrue();
            }
        }
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
}

package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.ingest.rows.RowDetection;
import dev.stoker.ingest.rows.RowIngestOptions;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.testing.Advice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Follows the advice of messages: the option that a message recommends must help. */
class AdviceTest {
    @TempDir
    private Path directory;

    private Path source;

    @BeforeEach
    void name() {
        source = directory.resolve("source");
    }

    private void file(String name, String text) throws IOException {
        Path file = source.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    /** Returns what a dry run says, also as an error. */
    private String plan(Path from, List<String> options) throws IOException {
        List<String> arguments = new ArrayList<>(
                List.of(from.toString(), directory.resolve("data").toString(), "--dry-run"));
        arguments.addAll(options);
        String[] args = arguments.toArray(String[]::new);
        try {
            return String.join(
                    "\n",
                    RowDetection.isRows(args)
                            ? RowIngestJob.plan(RowIngestOptions.parse(args))
                            : IngestJob.plan(IngestOptions.parse(args)).lines());
        } catch (InvalidIngestException e) {
            return "error: " + e.getMessage();
        }
    }

    private static boolean isGood(String said) {
        return !said.startsWith("error") && !said.contains("ends the ingest") && !said.contains("warning");
    }

    /** Follows an option that a message recommends. */
    private void assertHelps(Path from, String option, String placeholder, String value, String... given)
            throws IOException {
        String said = plan(from, Arrays.asList(given));
        assertThat(isGood(said)).as(said).isFalse();
        List<String> options = new ArrayList<>(Arrays.asList(given));
        for (String word : Advice.in(said, option)) {
            options.add(placeholder.isEmpty() ? word : word.replace(placeholder, value));
        }
        String then = plan(from, options);
        assertThat(isGood(then))
                .as("%s\nfollowed by %s:\n%s", said, options, then)
                .isTrue();
    }

    private void assertHelps(String option) throws IOException {
        assertHelps(source, option, "", "");
    }

    @Test
    void aFileBetweenTables() throws IOException {
        file("1.csv", "a,b\n1,x\n");
        file("2.csv", "a,b\n2,x\n");
        file("my notes [1].txt", "text");
        assertHelps("--exclude");
        assertHelps("--on-error");
        file("other.dat", "text");
        file("3.csv", "a,b\n3,x\n");
        assertHelps("--include");
    }

    @Test
    void filesOfTwoFormats() throws IOException {
        file("1.csv", "a,b\n1,x\n");
        file("2.jsonl", "{\"a\":1}\n");
        assertHelps("--include");
    }

    @Test
    void aColumnOfNulls() throws IOException {
        file("a.jsonl", "{\"a b\":null,\"i\":1}\n");
        assertHelps("--without");
        assertHelps(source, "--type", "…", "int64");
    }

    @Test
    void aColumnOfOneFileOnly() throws IOException {
        file("a.jsonl", "{\"i\":1}\n");
        file("b.jsonl", "{\"i\":2,\"v\":3}\n");
        assertHelps("--without");
        assertHelps(source, "--type", "…", "int64");
        Files.delete(source.resolve("a.jsonl"));
        Files.delete(source.resolve("b.jsonl"));
        file("a.csv", "i\n1\n");
        file("b.csv", "i,v\n1,2\n");
        assertHelps("--without");
        assertHelps(source, "--type", "…", "int64");
    }

    @Test
    void aFractionBehindWholeNumbers() throws IOException {
        file("a.jsonl", "{\"i\":1}\n");
        file("b.jsonl", "{\"i\":1.5}\n");
        assertHelps("--type");
        Files.delete(source.resolve("a.jsonl"));
        Files.delete(source.resolve("b.jsonl"));
        file("a.csv", "i,s\n1,x\n");
        file("b.csv", "i,s\n1.5,x\n");
        assertHelps("--type");
    }

    @Test
    void columnsWithoutAName() throws IOException {
        file("a.jsonl", "{\"\":1,\"x\":2}\n");
        assertHelps(source, "--rename", "NAME", "idx");
    }

    @Test
    void aReservedName() throws IOException {
        file("a.jsonl", "{\"key\":1,\"x\":2}\n");
        assertHelps(source, "--rename", "NAME", "id");
        assertHelps("--key");
    }

    @Test
    void theIndexOfADataFrame() throws IOException {
        file("a.jsonl", "{\"v\":1,\"__index_level_0__\":\"r1\"}\n");
        assertHelps("--key");
        assertHelps("--without");
        assertHelps(source, "--rename", "NAME", "id");
    }

    @Test
    void aNameOfTwoColumns() throws IOException {
        file("a.csv", "a,b,a\n1,2,3\n");
        assertHelps("--without");
        String taken = plan(source, List.of("--columns", "a,b"));
        assertThat(isGood(taken)).as(taken).isTrue();
        assertThat(taken).contains("a=1, b=2");
    }

    @Test
    void theOnlyColumnIsTheKey() throws IOException {
        file("a.csv", "a\n1\n2\n");
        assertHelps(source, "--columns", "", "", "--key", "a");
    }

    @Test
    void rowsOfAnotherLength() throws IOException {
        file("a.csv", "id,name\n1,a,x\n2,b\n");
        assertThat(plan(source, List.of("--on-error", "skip"))).contains("left out: {");
        file("a.csv", "id,name\n1,a,x\n2,b,y\n");
        assertThat(plan(source, List.of()))
                .contains("the record that ends in line 2 has 3 values, but there are 2 columns");
    }

    @Test
    void columnsOfFilesAndSplits() throws IOException {
        file("photos/1.jpg", "x");
        file("photos/2.jpg", "");
        file("table.csv", "image,part\nphotos/1.jpg,train\nphotos/2.jpg,test\n");
        Path table = source.resolve("table.csv");
        assertHelps(table, "--read", "", "", "--split-by", "part", "--empty", "include");
        assertHelps(table, "--empty", "", "", "--split-by", "part", "--read", "image=image");
        assertHelps(table, "--split-by", "", "", "--read", "image=pixels", "--empty", "include");
        assertHelps(table, "--split", "", "", "--read", "image=pixels", "--empty", "include");
        assertThat(plan(table, List.of("--read", "image=image", "--empty", "include", "--key", "image.path")))
                .contains("field  image: binary, nullable, payload", "key    from column image.path")
                .contains("photos/1.jpg (train): part=train, image=1 byte");
    }

    @Test
    void filesBesideImages() throws IOException {
        for (int i = 0; i < 6; i++) {
            file((i % 2 == 0 ? "a/" : "b/") + i + ".jpg", "x");
        }
        assertHelps("--label-from");
        file("a/Thumbs.db", "x");
        assertHelps(source, "--exclude", "", "", "--label-from", "parent-dir");
        Files.delete(source.resolve("a/Thumbs.db"));
        file("a/0.txt", "a cat");
        assertHelps(source, "--sidecar", "", "", "--label-from", "parent-dir");
        Files.delete(source.resolve("a/0.txt"));
        file("labels.csv", "name,class\na/0.jpg,cat\n");
        assertHelps(source, "--exclude", "", "", "--label-from", "regex:(.*)/");
        String said = plan(source, List.of());
        List<String> rows = Advice.in(said, "stoker ingest");
        assertThat(isGood(plan(Path.of(rows.get(1)), Advice.in(said, "--format"))))
                .isFalse();
        List<String> read = new ArrayList<>(Advice.in(said, "--format"));
        read.addAll(List.of("--read", Advice.in(said, "--read").get(1).replace("COLUMN", "name")));
        read.addAll(Advice.in(said, "--read-root"));
        assertThat(isGood(plan(Path.of(rows.get(1)), read))).isTrue();
    }

    /** Messages of which no test follows the advice yet have a dash in the register. */
    @Test
    void eachAdviceIsRegistered() throws IOException {
        assertThat(Advice.differences(
                        Path.of("src/test/resources/advice.tsv"),
                        Path.of("src/test/java"),
                        Path.of("src/main/java/dev/stoker/ingest"),
                        Path.of("../connectors/src/main/java/dev/stoker/connectors/dataset"),
                        Path.of("../formats/src/main/java")))
                .isEmpty();
    }
}

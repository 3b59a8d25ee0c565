package dev.stoker.ingest.pack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.connectors.files.source.reader.ShuffledBundler;
import dev.stoker.ingest.pack.keys.BucketSort;
import dev.stoker.ingest.pack.read.Labels;
import dev.stoker.ingest.spec.LabelRule;
import dev.stoker.ingest.spec.SplitRule;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PackingRulesTest {

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static FileEntry file(String key, long size) {
        return new FileEntry(utf8(key), size, 0, new long[0]);
    }

    private static SplitRule shares(Object... namesAndShares) {
        LinkedHashMap<String, Double> shares = new LinkedHashMap<>();
        for (int i = 0; i < namesAndShares.length; i += 2) {
            shares.put((String) namesAndShares[i], (Double) namesAndShares[i + 1]);
        }
        return new SplitRule.Shares(shares);
    }

    @ParameterizedTest
    @CsvSource({
        "a/0.jpg, train",
        "a/1.jpg, train",
        "a/2.jpg, train",
        "a/3.jpg, test",
        "a/4.jpg, test",
        "a/5.jpg, train",
        "a/6.jpg, test",
        "a/7.jpg, train"
    })
    void theSplitOfAKeyIsFrozen(String key, String split) {
        assertThat(new Splits(shares("val", 0.25, "test", 0.25)).of(utf8(key))).isEqualTo(split);
        assertThat(new Splits(shares("val", 0.25, "test", 0.25)).of(key)).isEqualTo(split);
        assertThat(new Splits(shares()).of(key)).isEqualTo("train");
        assertThat(new Splits(new SplitRule.TopDirectory()).of(key)).isEqualTo("a");
    }

    @Test
    void aGreaterShareKeepsWhatASmallerOneTook() {
        Splits few = new Splits(shares("val", 0.1));
        Splits many = new Splits(shares("val", 0.3));
        int taken = 0;
        for (int i = 0; i < 2000; i++) {
            byte[] key = utf8("k" + i);
            if (few.of(key).equals("val")) {
                taken++;
                assertThat(many.of(key)).isEqualTo("val");
            }
        }
        assertThat(taken).isBetween(150, 250);
    }

    @Test
    void wholeSharesLeaveNothingToTrain() {
        Splits all = new Splits(shares("a", 0.5, "b", 0.5));
        for (int i = 0; i < 1000; i++) {
            assertThat(all.of(utf8("k" + i))).isIn("a", "b");
        }
    }

    @Test
    void cutsChunksBySizeAndSplit() {
        List<String> chunks = new ArrayList<>();
        ChunkPlanner planner = new ChunkPlanner(
                new Splits(new SplitRule.TopDirectory()),
                10_000,
                chunk -> chunks.add(chunk.split()
                        + chunk.files().stream().map(FileEntry::path).toList()));
        planner.add(file("x/1", 3000));
        planner.add(file("y/1", 3000));
        planner.add(file("x/2", 2000));
        planner.add(file("x/3", 3000));
        planner.add(file("y/2", 90_000));
        planner.add(file("y/3", 10));
        planner.flush();

        assertThat(chunks).containsExactly("x[x/1, x/2]", "y[y/1]", "y[y/2]", "x[x/3]", "y[y/3]");
    }

    @Test
    void findsAKeyThatComesTwice() throws Exception {
        List<PathBundle> bundles = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            ShuffledBundler bundler = new ShuffledBundler(1, PathBundle.Kind.FILES, bundles::add);
            bundler.add("", utf8("a"), 1, 5, 0, new long[0]);
            bundler.flush();
        }
        BucketSort sort = new BucketSort(1, (file, stored) -> {});
        for (PathBundle bundle : bundles) {
            sort.add(bundle);
        }

        assertThatThrownBy(sort::flush)
                .isInstanceOf(TakenKeyException.class)
                .hasMessageContaining("key a occurs twice");
    }

    @Test
    void readsTablesOfLabels(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("labels.csv");
        Files.writeString(file, "a/1.jpg,cat\n\n\"b,c.jpg\",\"the \"\"dog\"\"\"\r\n \nd.jpg,cat\n\"two\nlines\",cat");

        Labels labels = Labels.of(new LabelRule.Csv(file.toString()));

        assertThat(labels.of("a/1.jpg")).contains("cat");
        assertThat(labels.of("b,c.jpg")).contains("the \"dog\"");
        assertThat(labels.of("d.jpg")).contains("cat");
        assertThat(labels.of("two\nlines")).contains("cat");
        assertThat(labels.of("e.jpg")).isEmpty();
        assertThat(labels.missing("e.jpg")).contains("has no line for e.jpg");
    }

    @Test
    void readsLargeTablesOfLabels(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("labels.csv");
        Map<String, String> expected = new TreeMap<>();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 20_000; i++) {
            expected.put("k" + i, "c" + i % 700);
            text.append("k").append(i).append(",c").append(i % 700).append('\n');
        }
        Files.writeString(file, text);

        Labels labels = Labels.of(new LabelRule.Csv(file.toString()));

        expected.forEach((key, name) -> assertThat(labels.of(key)).contains(name));
        assertThat(labels.of("k20000")).isEmpty();
    }

    @Test
    void refusesTablesThatContradictThemselves(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("labels.csv");
        Files.writeString(file, "a,cat\na,dog\n");
        assertThatThrownBy(() -> Labels.of(new LabelRule.Csv(file.toString())))
                .hasMessageContaining("Line 2")
                .hasMessageContaining("a second class");
        Files.writeString(file, "a,cat,dog\n");
        assertThatThrownBy(() -> Labels.of(new LabelRule.Csv(file.toString()))).hasMessageContaining("3 cells");
        Files.writeString(file, "a,cat\n\"b,dog\n");
        assertThatThrownBy(() -> Labels.of(new LabelRule.Csv(file.toString())))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining("line");
    }

    @Test
    void takesTheNamedGroupOrElseTheFirst() throws IOException {
        assertThat(Labels.of(new LabelRule.Regex(Pattern.compile("(\\d+)-(?<label>\\w+)")))
                        .of("x/12-cat.jpg"))
                .contains("cat");
        assertThat(Labels.of(new LabelRule.Regex(Pattern.compile("/(\\d+)-(\\w+)")))
                        .of("x/12-cat.jpg"))
                .contains("12");
        assertThat(Labels.of(new LabelRule.ParentDirectory()).of("a/b/c.jpg")).contains("b");
        assertThat(Labels.of(new LabelRule.ParentDirectory()).of("b/c.jpg")).contains("b");
        assertThat(Labels.of(new LabelRule.ParentDirectory()).of("c.jpg")).isEmpty();
    }
}

package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.testing.Advice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Follows the advice of messages: the option that a message recommends must help. */
class AdviceTest extends AdvisedIngest {
    @Test
    void aFileBetweenTables() throws IOException {
        source.file("1.csv", "a,b\n1,x\n");
        source.file("2.csv", "a,b\n2,x\n");
        source.file("my notes [1].txt", "text");
        source.assertHelps("--exclude");
        source.assertHelps("--on-error");
        source.file("other.dat", "text");
        source.file("3.csv", "a,b\n3,x\n");
        source.assertHelps("--include");
    }

    @Test
    void filesOfTwoFormats() throws IOException {
        source.file("1.csv", "a,b\n1,x\n");
        source.file("2.jsonl", "{\"a\":1}\n");
        source.assertHelps("--include");
    }

    @Test
    void aColumnOfNulls() throws IOException {
        source.file("a.jsonl", "{\"a b\":null,\"i\":1}\n");
        source.assertHelps("--without");
        source.assertHelps(source.path(), "--type", "…", "int64");
    }

    @Test
    void aColumnOfOneFileOnly() throws IOException {
        source.file("a.jsonl", "{\"i\":1}\n");
        source.file("b.jsonl", "{\"i\":2,\"v\":3}\n");
        source.assertHelps("--without");
        source.assertHelps(source.path(), "--type", "…", "int64");
        source.delete("a.jsonl");
        source.delete("b.jsonl");
        source.file("a.csv", "i\n1\n");
        source.file("b.csv", "i,v\n1,2\n");
        source.assertHelps("--without");
        source.assertHelps(source.path(), "--type", "…", "int64");
    }

    @Test
    void aFractionBehindWholeNumbers() throws IOException {
        source.file("a.jsonl", "{\"i\":1}\n");
        source.file("b.jsonl", "{\"i\":1.5}\n");
        source.assertHelps("--type");
        source.delete("a.jsonl");
        source.delete("b.jsonl");
        source.file("a.csv", "i,s\n1,x\n");
        source.file("b.csv", "i,s\n1.5,x\n");
        source.assertHelps("--type");
    }

    @Test
    void columnsWithoutAName() throws IOException {
        source.file("a.jsonl", "{\"\":1,\"x\":2}\n");
        source.assertHelps(source.path(), "--rename", "NAME", "idx");
    }

    @Test
    void aReservedName() throws IOException {
        source.file("a.jsonl", "{\"key\":1,\"x\":2}\n");
        source.assertHelps(source.path(), "--rename", "NAME", "id");
        source.assertHelps("--key");
    }

    @Test
    void theIndexOfADataFrame() throws IOException {
        source.file("a.jsonl", "{\"v\":1,\"__index_level_0__\":\"r1\"}\n");
        source.assertHelps("--key");
        source.assertHelps("--without");
        source.assertHelps(source.path(), "--rename", "NAME", "id");
    }

    @Test
    void aNameOfTwoColumns() throws IOException {
        source.file("a.csv", "a,b,a\n1,2,3\n");
        source.assertHelps("--without");
        String taken = source.plan("--columns", "a,b");
        assertThat(AdvisedSource.isGood(taken)).as(taken).isTrue();
        assertThat(taken).contains("a=1, b=2");
    }

    @Test
    void theOnlyColumnIsTheKey() throws IOException {
        source.file("a.csv", "a\n1\n2\n");
        source.assertHelps(source.path(), "--columns", "", "", "--key", "a");
    }

    @Test
    void rowsOfAnotherLength() throws IOException {
        source.file("a.csv", "id,name\n1,a,x\n2,b\n");
        assertThat(source.plan("--on-error", "skip")).contains("left out: " + source.path("a.csv"));
        source.file("a.csv", "id,name\n1,a,x\n2,b,y\n");
        assertThat(source.plan()).contains("the record that ends in line 2 has 3 values, but there are 2 columns");
    }

    @Test
    void columnsOfFilesAndSplits() throws IOException {
        source.file("photos/1.jpg", "x");
        source.file("photos/2.jpg", "");
        source.file("table.csv", "image,part\nphotos/1.jpg,train\nphotos/2.jpg,test\n");
        Path table = source.path("table.csv");
        source.assertHelps(table, "--read", "", "", "--split-by", "part", "--empty", "include");
        source.assertHelps(table, "--empty", "", "", "--split-by", "part", "--read", "image=image");
        source.assertHelps(table, "--split-by", "", "", "--read", "image=pixels", "--empty", "include");
        source.assertHelps(table, "--split", "", "", "--read", "image=pixels", "--empty", "include");
        assertThat(source.plan(table, List.of("--read", "image=image", "--empty", "include", "--key", "image.path")))
                .contains("field  image: binary, nullable, payload", "key    from column image.path")
                .contains("photos/1.jpg (train): part=train, image=1 byte");
    }

    @Test
    void filesBesideImages() throws IOException {
        for (int i = 0; i < 6; i++) {
            source.file((i % 2 == 0 ? "a/" : "b/") + i + ".jpg", "x");
        }
        source.assertHelps("--label-from");
        source.file("a/Thumbs.db", "x");
        source.assertHelps(source.path(), "--exclude", "", "", "--label-from", "parent-dir");
        source.delete("a/Thumbs.db");
        source.file("a/0.txt", "a cat");
        source.assertHelps(source.path(), "--sidecar", "", "", "--label-from", "parent-dir");
        source.delete("a/0.txt");
        source.file("labels.csv", "name,class\na/0.jpg,cat\n");
        source.assertHelps(source.path(), "--exclude", "", "", "--label-from", "regex:(.*)/");
        String said = source.plan();
        List<String> rows = Advice.in(said, "stoker ingest");
        assertThat(AdvisedSource.isGood(source.plan(Path.of(rows.get(1)), Advice.in(said, "--format"))))
                .isFalse();
        List<String> read = new ArrayList<>(Advice.in(said, "--format"));
        read.addAll(List.of("--read", Advice.in(said, "--read").get(1).replace("COLUMN", "name")));
        read.addAll(Advice.in(said, "--read-root"));
        assertThat(AdvisedSource.isGood(source.plan(Path.of(rows.get(1)), read)))
                .isTrue();
    }

    @Test
    void eachAdviceIsRegistered() throws IOException {
        assertThat(Advice.differences(
                        Path.of("src/test/resources/advice.tsv"),
                        Path.of("src/test/java"),
                        Path.of("src/main/java/dev/stoker/ingest"),
                        Path.of("src/main/java/dev/stoker/export"),
                        Path.of("../connectors/src/main/java/dev/stoker/connectors/dataset"),
                        Path.of("formats/src/main/java")))
                .isEmpty();
    }
}

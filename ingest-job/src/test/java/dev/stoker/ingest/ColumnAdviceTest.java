package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.formats.parquet.MemoryOutput;
import dev.stoker.schemas.testing.Advice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.io.api.Binary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Follows the advice about columns whose files describe them. */
class ColumnAdviceTest extends AdvisedIngest {
    private void parquet(String name, String schema, Consumer<Group> fill) throws IOException {
        source.file(
                name, MemoryOutput.write("message m { " + schema + " }", UnaryOperator.identity(), (factory, out) -> {
                    Group row = factory.newGroup();
                    fill.accept(row);
                    out.add(row);
                }));
    }

    /** Takes the first recommendation of each message, until there is nothing more to say. */
    private List<String> followAll(String option) throws IOException {
        List<String> options = new ArrayList<>();
        String said = source.plan();
        while (!AdvisedSource.isGood(said)) {
            List<String> next = Advice.in(said, option);
            assertThat(options).as(said).doesNotContain(next.get(1));
            options.addAll(next);
            said = source.plan(source.path(), options);
        }
        return options;
    }

    @ParameterizedTest
    @ValueSource(strings = {"parquet/nested.parquet", "arrow/nested.arrow", "avro/nested.avro"})
    void nullsInLists(String file) throws IOException {
        source.golden("columnar/" + file, file.replace("/", ""));
        assertThat(followAll("--without")).contains("numbers", "matrix");
        source.assertHelps("--type", "--columns", "numbers");
        source.assertHelps("--on-error", "--columns", "numbers");
        String left = source.plan("--columns", "numbers", "--on-error", "skip");
        assertThat(left).contains("left out: " + source.path());
        String kept = source.plan(
                source.path(),
                AdvisedSource.follow(left, "--type", "", "", "--columns", "numbers", "--on-error", "skip"));
        assertThat(kept).doesNotContain("left out: " + source.path()).contains("numbers: int64?[]");
    }

    @Test
    void imagesOfWhichOnlyThePathIsThere() throws IOException {
        parquet("a.parquet", "optional group image { optional binary bytes; optional binary path (STRING); }", row -> {
            row.addGroup("image").append("path", "a.png");
        });
        source.assertHelps("--without");
    }

    @Test
    void timesFarFrom1970() throws IOException {
        ByteBuffer int96 = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
        int96.putLong(0).putInt(5_000_000);
        parquet(
                "a.parquet",
                "optional int96 at;",
                row -> row.append("at", Binary.fromConstantByteArray(int96.array())));
        source.assertHelps("--type");
    }

    @Test
    void aValueThatDiffersFromItsDirectory() throws IOException {
        source.file("my year=1/a.jsonl", "{\"my year\":2,\"v\":1}\n");
        source.assertHelps("--without");
    }

    @Test
    void filesWithDifferentTypes() throws IOException {
        parquet("a.parquet", "optional int64 v; optional int64 i; optional int64 k;", row -> row.append("v", 1L));
        parquet("b.parquet", "optional binary v (STRING); optional double i;", row -> row.append("v", "1"));
        assertThat(source.plan()).doesNotContain("--type v=");
        source.assertHelps("--without", "--without", "i");
        source.assertHelps("--type", "--without", "v");
        source.assertHelps("--type", "--without", "v", "--type", "i=int8");
        source.assertHelps("--without", "--without", "v", "--type", "i=int8");
    }

    @Test
    void aTypeThatAColumnCannotHave() throws IOException {
        parquet("a.parquet", "optional binary v (STRING); optional int64 i;", row -> row.append("v", "x"));
        source.assertHelps("--type", "--type", "v=int64");
        source.assertHelps("--without", "--type", "v=int64");
    }

    @Test
    void listsOfNulls() throws IOException {
        source.file("a.jsonl", "{\"v\":[null],\"i\":1}\n");
        source.assertHelps("--type", "--type", "v=int64");
        source.delete("a.jsonl");
        source.golden("columnar/parquet/null-lists.parquet", "a.parquet");
        source.assertHelps("--type", "--columns", "v", "--type", "v=int64");
        source.assertHelps("--without", "--type", "v=int64", "--without", "w", "--without", "s.l");
    }

    @Test
    void aFileWithoutTheKey() throws IOException {
        source.file("a.csv", "id,v\n1,1\n");
        source.file("b.csv", "v\n1\n");
        assertThat(source.plan("--key", "id")).contains("column id: it is null, but a key needs a value");
        assertThat(source.plan("--split-by", "id")).contains("the name of a split needs a value");
    }

    @Test
    void namesThatNeedQuotes() throws IOException {
        source.file("a.csv", "\"it's a, \"\"b\"\"=c;d\"\n1\n");
        source.assertHelps("--columns", "--key", "\"it's a, \"\"b\"\"=c;d\"");
        source.file("a.csv", "\"it's a, \"\"b\"\"=c;d\",v\n1,x\n");
        source.file("b.csv", "\"it's a, \"\"b\"\"=c;d\",v\n1.5,x\n");
        source.assertHelps("--type");
    }

    @Test
    void columnsThatAreGivenTwice() throws IOException {
        source.file("a.csv", "id,v\n1,1\n");
        assertThat(source.plan("--columns", "v,id", "--without", "v"))
                .contains("the column v is given with --columns and with --without; leave one out");
        assertThat(source.plan("--columns", "v,id")).contains("v=1, id=1");
        assertThat(source.plan("--without", "v")).contains("id=1").doesNotContain("v=1");
    }

    @Test
    void aConditionThatNoRowSatisfies() throws IOException {
        parquet("a.parquet", "optional int64 v;", row -> row.append("v", 1L));
        assertThat(source.plan("--where", "v > 1"))
                .contains("no row of the source satisfies --where v > 1; correct the expression");
        assertThat(source.plan("--where", "v > 0")).contains("v=1");
        source.delete("a.parquet");
        source.file("a.csv", "v\n1\n2\n");
        assertThat(source.plan("--where", "v > 1")).contains("1 of the first 2 rows satisfy --where");
    }

    @Test
    void textInsideOfLists() throws IOException {
        source.file("a.jsonl", "{\"o\":[{\"my a\":1}],\"i\":1}\n");
        source.assertHelps("--without", "--type", "o.my a=utf8");
    }

    @Test
    void fieldsWithOneName() throws IOException {
        source.file("a.csv", "id,v\n1,1\n");
        source.assertHelps(source.path(), "--rename", "NAME", "w", "--rename", "v=id");
    }
}

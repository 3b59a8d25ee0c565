package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.testing.Advice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Follows the advice about columns whose files describe them. */
class ColumnAdviceTest {
    @TempDir
    private Path directory;

    private AdvisedSource source;

    @BeforeEach
    void name() {
        source = new AdvisedSource(directory);
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
        assertThat(left).contains("left out: {");
        String kept = source.plan(
                source.path(),
                AdvisedSource.follow(left, "--type", "", "", "--columns", "numbers", "--on-error", "skip"));
        assertThat(kept).doesNotContain("left out: {").contains("numbers: int64?[]");
    }
}

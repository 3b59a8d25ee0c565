package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.rows.RowDetection;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.ingest.spec.InvalidIngestException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A source without samples is an error of a first ingest, and nothing new for an append. */
class EmptySourcesTest {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = TestClusters.withTwoSlots();

    @TempDir
    private Path directory;

    private Path data;

    @BeforeEach
    void name() {
        data = directory.resolve("data");
    }

    private IngestResult ingest(Path source, Path target, String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(source.toString(), target.toString()));
        arguments.addAll(Arrays.asList(options));
        String[] args = arguments.toArray(String[]::new);
        IngestListener<IngestProgress> quiet = IngestListener.silent();
        if (RowDetection.isRows(args)) {
            RowIngestOptions rows = RowIngestOptions.parse(args);
            return RowIngestJob.run(rows, launcher(), quiet);
        }
        IngestOptions files = IngestOptions.parse(args);
        return IngestJob.run(files, launcher(), quiet);
    }

    private static JobLauncher launcher() {
        return JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment());
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    private void assertEmpty(Path source, String message, String... options) throws Exception {
        assertThatThrownBy(() -> ingest(source, directory.resolve("none"), options))
                .as(source + " first")
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining(message);
        assertThat(directory.resolve("none")).doesNotExist();
        List<String> append = new ArrayList<>(Arrays.asList(options));
        append.add("--append");
        IngestResult result = ingest(source, data, append.toArray(String[]::new));
        assertThat(result.outcome()).as(source + " append").isEqualTo(IngestResult.Outcome.UNCHANGED);
        assertThat(result.version()).isEqualTo(1);
        assertThat(result.lines())
                .singleElement()
                .asString()
                .startsWith("nothing new: ")
                .contains(message)
                .endsWith("version 1 stays the newest one");
    }

    @Test
    void tablesWithoutRowsAddNothing() throws Exception {
        ingest(write("first.csv", "a,b\n1,x\n"), data);

        assertEmpty(write("header.csv", "a,b\n"), "is empty: it has no rows");
        assertEmpty(write("none.jsonl", ""), "is empty: it has no rows");
        assertEmpty(write("none.tfrecord", ""), "is empty: it has no rows");
        Path none = Files.createDirectory(directory.resolve("directory"));
        assertEmpty(none, "contains no samples");
        assertEmpty(none, "contains no files", "--format", "csv");
    }

    @Test
    void aConditionThatNoRowSatisfiesAddsNothing() throws Exception {
        Path source = write("first.csv", "a,b\n1,x\n2,y\n");
        ingest(source, data);

        IngestResult result = ingest(source, data, "--where", "a > 5", "--append");
        assertThat(result.outcome()).isEqualTo(IngestResult.Outcome.UNCHANGED);
        assertThat(result.lines())
                .anyMatch(line -> line.startsWith("nothing new: ") && line.contains("version 1 stays"))
                .contains("left out: 2 rows that --where excludes");
        assertThatThrownBy(() -> ingest(source, directory.resolve("other"), "--where", "a > 5"))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining(
                        "No samples to commit: all were left out, 2 rows that --where excludes; nothing was committed")
                .hasMessageNotContaining("resume")
                .hasMessageNotContaining("{");
    }

    /** Rows that cannot be read are no empty source. */
    @Test
    void anAppendOfUnreadableRowsFails() throws Exception {
        ingest(write("first.csv", "a,b\n1,x\n"), data);
        Path bad = write("bad.csv", "a,b\nx,x\ny,y\n");
        assertThatThrownBy(() -> ingest(bad, data, "--type", "a=int64", "--append", "--on-error", "skip"))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("2 rows that cannot be samples");
    }
}

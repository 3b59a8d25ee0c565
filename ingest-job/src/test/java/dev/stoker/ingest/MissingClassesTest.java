package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.spec.IngestListener;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Samples without a class are counted, since training code expects that all have one. */
class MissingClassesTest {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = TestClusters.withTwoSlots();

    @TempDir
    private Path directory;

    private IngestResult rows(String text, String... options) throws Exception {
        Path source = Files.writeString(directory.resolve("rows.csv"), text);
        List<String> args = new ArrayList<>(
                List.of(source.toString(), directory.resolve("target").toString(), "--key", "id", "--label", "y"));
        args.addAll(List.of(options));
        return RowIngestJob.run(
                RowIngestOptions.parse(args.toArray(String[]::new)),
                JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment()),
                IngestListener.silent());
    }

    @ParameterizedTest
    @ValueSource(strings = {"shuffled", "listed"})
    void rowsWithoutALabelAreCounted(String order) throws Exception {
        IngestResult result = rows("id,x,y\na,1,cat\nb,2,\nc,3,dog\nd,4,\n", "--order", order);

        assertThat(result.samples()).isEqualTo(4);
        assertThat(result.missing()).isEqualTo(Map.of("y", 2L));
        assertThat(result.lines()).contains("noted: 2 samples have no class in field y");
    }

    @Test
    void nothingIsNotedIfAllHaveOne() throws Exception {
        IngestResult result = rows("id,x,y\na,1,cat\nb,2,dog\n");

        assertThat(result.missing()).isEmpty();
        assertThat(result.lines()).noneMatch(line -> line.contains("no class"));
    }

    @Test
    void filesWithoutASidecarAreCounted() throws Exception {
        Path source = directory.resolve("source");
        Files.createDirectories(source);
        for (int i = 0; i < 6; i++) {
            Files.writeString(source.resolve(i + ".jpg"), "image " + i);
            if (i != 2) {
                Files.writeString(source.resolve(i + ".cls"), "class " + i % 2);
            }
        }

        IngestResult result = Ingests.run(source, directory.resolve("target"), "--sidecar", ".cls=y:categorical");

        assertThat(result.samples()).isEqualTo(6);
        assertThat(result.missing()).isEqualTo(Map.of("y", 1L));
        assertThat(result.lines()).contains("noted: 1 sample has no class in field y");
    }
}

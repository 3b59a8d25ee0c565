package dev.stoker.ingest;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.testing.Advice;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two files of a source have one key: the message names both places, and its advice keeps both samples. */
class KeysOfFilesTest {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = TestClusters.withTwoSlots();

    @TempDir
    private Path directory;

    private Path source;
    private int targets;

    private Path target() {
        return directory.resolve("data" + targets);
    }

    private void write(String name, byte[] bytes) throws IOException {
        source = directory.resolve("source");
        Path file = source.resolve(name);
        Files.createDirectories(file.getParent());
        Files.write(file, bytes);
    }

    private void shard(String name, String... members) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (String member : members) {
            byte[] header = new byte[512];
            put(header, 0, member);
            put(header, 100, "0000644\0" + "0000000\0" + "0000000\0");
            put(header, 124, "00000000001\0" + "00000000000\0" + "        0");
            put(header, 257, "ustar\00000");
            int sum = 0;
            for (byte b : header) {
                sum += b & 0xff;
            }
            put(header, 148, String.format("%06o\0 ", sum));
            out.write(header);
            out.write(Arrays.copyOf(name.substring(0, 1).getBytes(US_ASCII), 512));
        }
        out.write(new byte[1024]);
        write(name, out.toByteArray());
    }

    private static void put(byte[] header, int at, String text) {
        System.arraycopy(text.getBytes(US_ASCII), 0, header, at, text.length());
    }

    private void ingest(Path from, List<String> options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(from.toString(), target().toString()));
        arguments.addAll(options);
        RowIngestJob.run(
                RowIngestOptions.parse(arguments.toArray(String[]::new)),
                JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment(
                        new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "none"))),
                IngestListener.silent());
    }

    private String failure(Path from, List<String> options) {
        Throwable thrown = catchThrowable(() -> ingest(from, options));
        assertThat(thrown).isInstanceOf(IngestFailedException.class);
        return thrown.getMessage();
    }

    private List<String> keys() throws IOException {
        return Packed.read(target()).samples().stream()
                .map(Packed.Sample::key)
                .sorted()
                .toList();
    }

    private static List<String> with(List<String> given, List<String> more) {
        List<String> all = new ArrayList<>(given);
        for (int i = 0; i < more.size(); i += 2) {
            int at = all.indexOf(more.get(i));
            if (at >= 0) {
                all.set(at + 1, more.get(i + 1));
            } else {
                all.addAll(more.subList(i, i + 2));
            }
        }
        return all;
    }

    @ParameterizedTest
    @ValueSource(strings = {"listed", "shuffled"})
    void shardsThatCountFromZero(String order) throws Exception {
        shard("a.tar", "000000.txt");
        shard("b.tar", "000000.txt", "000001.txt");
        List<String> given = List.of("--order", order, "--columns", "txt");

        String said = failure(source, given);

        assertThat(said).contains("The key 000000 occurs twice in this ingest: a.tar#0 and b.tar#0 have it");
        ingest(source, with(given, Advice.in(said, "--key")));
        assertThat(keys()).containsExactly("a.tar/000000", "b.tar/000000", "b.tar/000001");
        assertThat(Packed.read(target()).samples().get(0).fields()).containsOnlyKeys("txt");
        targets++;
        ingest(source, Advice.in(said, "--key"));
        assertThat(Packed.read(target()).samples().get(0).fields()).containsOnlyKeys("txt");
    }

    @Test
    void oneShardAfterTheOther() throws Exception {
        shard("a.tar", "000000.txt");
        shard("b.tar", "000000.txt", "000001.txt");
        ingest(source.resolve("a.tar"), List.of());

        String said = failure(source.resolve("b.tar"), List.of("--append"));

        ingest(
                source.resolve("b.tar"),
                with(Advice.in(said, "--key"), List.of("--append", "")).subList(0, 3));
        assertThat(keys()).containsExactly("000000", "b.tar/000000", "b.tar/000001");
    }

    @ParameterizedTest
    @ValueSource(strings = {"listed", "shuffled"})
    void tablesWithTheSameNumbers(String order) throws Exception {
        write("x/1.csv", "\"a,b\",n\n7,1\n8,2\n".getBytes(US_ASCII));
        write("y/2.csv", "\"a,b\",n\n9,3\n8,4\n".getBytes(US_ASCII));
        List<String> given = List.of("--order", order, "--key", "\"a,b\",n", "--key", "n");
        ingest(source, given);
        targets++;
        List<String> one = List.of("--order", order, "--key", "\"a,b\"");

        String said = failure(source, one);

        assertThat(said).contains("The key 8 occurs twice in this ingest: x/1.csv#1 and y/2.csv#1 have it");
        ingest(source, with(one, Advice.in(said, "--key")));
        assertThat(keys()).containsExactly("x/1.csv/7", "x/1.csv/8", "y/2.csv/8", "y/2.csv/9");
        targets++;
        ingest(source, with(one, List.of("--order", "shuffled", "--on-duplicate", "first")));
        assertThat(keys()).containsExactly("7", "8", "9");
    }

    @Test
    void twoRowsOfAFile() throws Exception {
        write("1.csv", "id,n\n7,1\n8,2\n7,3\n".getBytes(US_ASCII));

        assertThat(failure(source, List.of("--key", "id")))
                .contains("1.csv#0 and 1.csv#2 have it", "keep both with other columns for --key, or without it");
        assertThat(failure(source, List.of("--key", "__file__,id"))).contains("The key 1.csv/7", "or without it");

        ingest(source, List.of("--key", "id,n"));
        assertThat(keys()).containsExactly("7/1", "7/3", "8/2");
        targets++;
        ingest(source, List.of());
        assertThat(keys()).containsExactly("1.csv#0", "1.csv#1", "1.csv#2");
    }

    @Test
    void aColumnWithTheNameForTheFile() throws Exception {
        write("1.csv", "__file__,n\n7,1\n".getBytes(US_ASCII));

        assertThat(catchThrowable(() -> ingest(source, List.of("--key", "__file__"))))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("__file__ stands for the path of the file, but the source has a column");
    }
}

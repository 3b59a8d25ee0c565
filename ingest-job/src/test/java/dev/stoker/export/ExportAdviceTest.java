package dev.stoker.export;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.export.spec.InvalidExportException;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.formats.parquet.MemoryOutput;
import dev.stoker.ingest.RowIngestJob;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.testing.Advice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.parquet.example.data.Group;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Follows the advice of exports: the option that a message recommends must help. */
class ExportAdviceTest {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(1)
            .setNumberSlotsPerTaskManager(2)
            .build());

    @TempDir
    private Path directory;

    private int targets;

    private static JobLauncher launcher() {
        return JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment(
                new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "none")));
    }

    private void dataset(String rows, String... options) throws Exception {
        ingest(Files.writeString(directory.resolve(rows.startsWith("{") ? "rows.jsonl" : "rows.csv"), rows), options);
    }

    private void ingest(Path source, String... options) throws Exception {
        List<String> arguments = new ArrayList<>(
                List.of(source.toString(), directory.resolve("data").toString()));
        arguments.addAll(Arrays.asList(options));
        RowIngestJob.run(RowIngestOptions.parse(arguments.toArray(String[]::new)), launcher(), IngestListener.silent());
    }

    private ExportOptions parse(List<String> options) {
        List<String> arguments = new ArrayList<>(List.of(
                directory.resolve("data").toString(),
                directory.resolve("out" + targets++).toString()));
        arguments.addAll(options);
        return ExportOptions.parse(arguments.toArray(String[]::new));
    }

    /** Returns what an export says before it begins, or nothing if there is no problem. */
    private String plan(List<String> options) throws Exception {
        try {
            ExportJob.plan(parse(options));
            return "";
        } catch (InvalidExportException e) {
            return String.join("\n", e.problems());
        }
    }

    private String run(List<String> options) throws Exception {
        try {
            ExportJob.run(parse(options), launcher(), new ExportListener() {});
            return "";
        } catch (InvalidExportException e) {
            return String.join("\n", e.problems());
        } catch (StokerException e) {
            return ErrorText.of(e);
        }
    }

    private static List<String> follow(String said, String option, String placeholder, String value, String... given) {
        List<String> words = new ArrayList<>(Advice.in(said, option));
        words.replaceAll(word -> placeholder.isEmpty() ? word : word.replace(placeholder, value));
        List<String> options = new ArrayList<>(Arrays.asList(given));
        int at = option.equals("--columns") ? options.indexOf(option) : -1;
        if (at >= 0) {
            options.subList(at, at + 2).clear();
        }
        options.addAll(words);
        return options;
    }

    private void assertHelps(String option, String placeholder, String value, String... given) throws Exception {
        String said = plan(Arrays.asList(given));
        List<String> options = follow(said, option, placeholder, value, given);
        assertThat(plan(options)).as("%s\nfollowed by %s", said, options).isEmpty();
    }

    private void assertRunHelps(String option, String... given) throws Exception {
        String said = run(Arrays.asList(given));
        List<String> options = follow(said, option, "", "", given);
        assertThat(run(options)).as("%s\nfollowed by %s", said, options).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"avro", "tfrecord", "webdataset", "jsonl"})
    void columnsThatAFormatCannotHold(String format) throws Exception {
        String schema =
                "message m { optional binary v (STRING); optional int64 u (INTEGER(64,false)); optional double d;"
                        + " optional binary b;"
                        + " optional group l (LIST) { repeated group list { optional binary item; } } }";
        byte[] file = MemoryOutput.write(schema, UnaryOperator.identity(), (factory, out) -> {
            Group row = factory.newGroup()
                    .append("v", "x")
                    .append("u", 1L)
                    .append("d", 1.5)
                    .append("b", "x");
            row.addGroup("l").addGroup("list").append("item", "x");
            out.add(row);
        });
        ingest(Files.write(directory.resolve("a.parquet"), file), "--rename", "v=my v, w");
        assertHelps("--columns", "", "", "--format", format, "--rename", "my v, w=name");
    }

    @Test
    void namesThatAFormatCannotHave() throws Exception {
        dataset("{\"My a=b\":1,\"my_a=b\":2}\n");
        assertHelps("--rename", "", "", "--format", "webdataset", "--rename", "my_a=b=x");
        assertHelps("--rename", "", "", "--format", "avro", "--rename", "my_a=b=My_a_b");
        assertHelps("--rename", "", "", "--format", "webdataset", "--rename", "my_a=b=my_a_b");
        assertHelps("--rename", "", "", "--format", "avro", "--columns", "key,My a=b");
    }

    @Test
    void aTableWithoutTheKeyOrAColumn() throws Exception {
        dataset("{\"a\":\"x\",\"b\":\"y\",\"i\":1}\n");
        assertHelps("--columns", "", "", "--format", "webdataset", "--columns", "a");
        assertHelps("--columns", "NAME", "a", "--format", "webdataset", "--columns", "key");
        assertHelps("--columns", "", "", "--format", "files", "--columns", "a");
        assertHelps("--columns", "NAME", "a", "--format", "files");
        assertHelps("--columns", "NAME", "a", "--format", "files", "--columns", "key");
        assertHelps("--columns", "NAME", "a", "--format", "files", "--columns", "key,i");
    }

    @Test
    void valuesThatAFormatCannotHold() throws Exception {
        dataset("f,i\nnan,1\n", "--type", "f=float64");
        assertRunHelps("--columns", "--format", "jsonl");
    }

    @Test
    void timesThatAFormatCannotHold() throws Exception {
        dataset("{\"t\":9000000000000000000,\"i\":1}\n", "--type", "t=timestamp[s]");
        assertRunHelps("--columns", "--format", "jsonl", "--columns", "t,i");
        assertRunHelps("--columns", "--format", "avro", "--columns", "key,t,i");
        assertRunHelps("--columns", "--format", "parquet");
        assertThat(run(List.of("--format", "arrow"))).isEmpty();
    }

    @Test
    void samplesWithoutAValue() throws Exception {
        dataset("{\"a\":1,\"it's\":1}\n{\"a\":null}\n", "--rename", "it's=Is");
        assertRunHelps("--where", "--format", "webdataset", "--rename", "Is=is");
    }

    @Test
    void optionsThatNeedOthers() throws Exception {
        dataset("{\"a\":1}\n");
        assertHelps("--order", "N", "0", "--format", "arrow", "--lanes", "3");
        assertThat(plan(List.of("--format", "arrow", "--layout", "huggingface")))
                .contains("give --format parquet");
        assertThat(plan(List.of("--format", "parquet", "--layout", "huggingface")))
                .isEmpty();
        assertThat(plan(List.of("--format", "arrow", "--version", "1", "--as-of", "0s")))
                .isEqualTo("--version and --as-of give two versions; leave one out");
        assertThat(plan(List.of("--format", "arrow", "--version", "1"))).isEmpty();
        assertThat(plan(List.of("--format", "arrow", "--as-of", "0s"))).isEmpty();
    }

    @Test
    void aTargetWithAnExport() throws Exception {
        dataset("{\"a\":1}\n");
        assertThat(run(List.of("--format", "arrow"))).isEmpty();
        targets = 0;
        assertThat(run(List.of("--format", "arrow"))).endsWith("already has an export; replace it with --overwrite");
        targets = 0;
        assertThat(run(List.of("--format", "arrow", "--overwrite"))).isEmpty();
    }
}

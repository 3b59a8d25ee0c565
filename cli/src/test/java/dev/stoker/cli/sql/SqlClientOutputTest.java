package dev.stoker.cli.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SqlClientOutputTest {
    private static final String ERROR = "[ERROR] Could not execute SQL statement. Reason:";
    private static final String ENDED =
            "java.lang.IllegalStateException: MiniCluster is not yet running or has already been shut down.";
    private static final List<String> JOB = List.of(
            "org.apache.flink.runtime.JobException\tRecovery is suppressed by NoRestartBackoffTimeStrategy",
            "java.io.IOException\tThe committer failed",
            "dev.stoker.connectors.dataset.TakenKeyException\tThe dataset already has a sample with the key 3",
            "java.io.IOException\tchunk 1");

    @TempDir
    private Path directory;

    private static SqlClientOutput output(String... lines) {
        SqlClientOutput output = new SqlClientOutput(List.of("INSERT"), new PrintWriter(new StringWriter()));
        output.add("Flink SQL> INSERT");
        for (String line : lines) {
            output.add(line);
        }
        return output;
    }

    private static void fails(SqlClientOutput output, List<String> causes, String message) {
        assertThatThrownBy(() -> output.requireSuccess(causes)).hasMessage("statement 1 of 1 failed: " + message);
    }

    @Test
    void aFailedJobIsTheReasonAndNotTheEndOfItsCluster() {
        fails(output(ERROR, ENDED), JOB, "The dataset already has a sample with the key 3");
        fails(output(ERROR, ENDED), JOB.subList(0, 2), "The committer failed");
        fails(output(ERROR, ENDED), List.of(), ENDED.substring(ENDED.indexOf(": ") + 2));
    }

    @Test
    void stokersOwnReasonComesBeforeWhatIsBehindIt() {
        fails(
                output(
                        ERROR,
                        "org.apache.flink.table.api.ValidationException: Unable to create a sink",
                        "Caused by: dev.stoker.storage.errors.StoreAccessException: Access to s3a://b is denied",
                        "Caused by: java.io.IOException: 403"),
                List.of(),
                "Access to s3a://b is denied");
        fails(output(ERROR, "java.lang.Exception: a", "Caused by: java.io.IOException: b"), List.of(), "b");
    }

    @Test
    void aMissingClassNamesTheJarsToCopy() {
        for (String type : List.of("ClassNotFoundException", "NoClassDefFoundError")) {
            assertThatThrownBy(() -> output(ERROR, "java.lang." + type + ": org/apache/flink/table/data/RowData")
                            .requireSuccess(List.of()))
                    .hasMessageContaining("Flink has no class org.apache.flink.table.data.RowData; copy the jars of");
        }
    }

    @Test
    void successIsSilent() {
        assertThatCode(() -> output("Query OK").requireSuccess(List.of())).doesNotThrowAnyException();
    }

    /** The client needs both in scripts, also with a configuration that a user has written. */
    @Test
    void aConfigurationOfOnesOwnKeepsTheDefaultsThatItDoesNotSet() throws Exception {
        Files.writeString(
                directory.resolve("config.yaml"),
                "execution:\n  target: remote\n  runtime-mode: streaming\nrest:\n  address: 10.0.0.1\n");
        assertThat(SqlClientProcess.defaults(directory, List.of()))
                .containsExactly("table.dml-sync=true", "sql-client.execution.result-mode=tableau");
        assertThat(SqlClientProcess.defaults(directory, List.of("table.dml-sync=false")))
                .containsExactly("sql-client.execution.result-mode=tableau");
    }
}

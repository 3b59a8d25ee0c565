package dev.stoker.sql.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.storage.ObjectStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CollectionUtil;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** INSERT while its task manager, or the process of the whole cluster, is killed. */
@Timeout(180)
@Tag("full-programs")
class KilledInsertITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(1)
            .setNumberSlotsPerTaskManager(4)
            .build());

    @TempDir
    Path directory;

    private static boolean hasChunks(Path path) throws IOException {
        try (Stream<Path> files = Files.walk(path.resolve("chunks"))) {
            return files.anyMatch(file -> file.toString().endsWith(".arrow"));
        }
    }

    private static TableResult insert(Path path, String connector) {
        return environment(path, connector).executeSql("INSERT INTO numbers SELECT number FROM source");
    }

    private static TableEnvironment environment(Path path, String connector) {
        TableEnvironment sql = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        sql.getConfig().set("parallelism.default", "2");
        sql.getConfig().set("restart-strategy.type", "fixed-delay");
        sql.getConfig().set("restart-strategy.fixed-delay.attempts", "100");
        sql.getConfig().set("restart-strategy.fixed-delay.delay", "100 ms");
        sql.executeSql("CREATE TEMPORARY TABLE source (number BIGINT) WITH ('connector'='datagen',"
                + " 'number-of-rows'='10000', 'fields.number.kind'='sequence', 'fields.number.start'='0',"
                + " 'fields.number.end'='9999')");
        sql.executeSql("CREATE TEMPORARY TABLE numbers (number BIGINT) WITH ('connector'='" + connector
                + "', 'sink.chunk-size'='16kb', 'path'='" + path + "')");
        return sql;
    }

    private void verify() throws Exception {
        assertThat(CollectionUtil.iteratorToList(environment(directory, "stoker")
                        .executeSql("SELECT COUNT(*), COUNT(DISTINCT number), MAX(number) FROM numbers")
                        .collect()))
                .containsExactly(Row.of(10_000L, 10_000L, 9_999L));
        assertThat(versions()).isEqualTo(1);
    }

    private long versions() throws IOException {
        try (ObjectStore store = DatasetStore.BY_LOCATION.open(directory.toString())) {
            return Dataset.open(store).latestVersion();
        }
    }

    @Test
    void commitsOneVersionAlthoughItsTaskManagerFails(@InjectMiniCluster MiniCluster cluster) throws Exception {
        TableResult result = insert(directory, "blocking");
        assertThat(BlockingTableFactory.IS_BLOCKED.await(100, TimeUnit.SECONDS)).isTrue();
        cluster.terminateTaskManager(0).get();
        cluster.startTaskManager();
        result.await();
        verify();
        try (ObjectStore store = DatasetStore.BY_LOCATION.open(directory.toString())) {
            assertThat(new Leases(Dataset.open(store)).all()).isEmpty();
        }
    }

    @Test
    void commitsNothingIfItsProcessIsKilled() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String line = output.readLine();
            while (line != null && !line.equals(BlockingTableFactory.BLOCKED)) {
                line = output.readLine();
            }
            assertThat(line).isEqualTo(BlockingTableFactory.BLOCKED);
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(137);
        assertThat(versions()).isZero();
        assertThat(hasChunks(directory)).isTrue();
        insert(directory, "stoker").await();
        verify();
    }

    /** The process: an INSERT that blocks before it has written all rows. */
    static final class Main {

        private Main() {}

        public static void main(String[] args) throws Exception {
            insert(Path.of(args[0]), "blocking").await();
        }
    }
}

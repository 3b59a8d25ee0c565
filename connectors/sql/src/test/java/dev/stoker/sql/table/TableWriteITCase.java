package dev.stoker.sql.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.EveryTypeDataset;
import dev.stoker.connectors.shared.SharedFlink;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.types.Row;
import org.apache.flink.util.CollectionUtil;
import org.apache.flink.util.ExceptionUtils;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class TableWriteITCase {

    @RegisterExtension
    static final SharedFlink CLUSTER = SharedFlink.ofParallelism(4);

    @TempDir
    static Path directory;

    private static TableEnvironment sql;

    @BeforeAll
    static void createTables() throws Exception {
        EveryTypeDataset.create(directory.resolve("every")).append("train", 3, 10);
        sql = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        sql.getConfig().set("parallelism.default", "2");
        sql.executeSql("CREATE CATALOG lake WITH ('type'='stoker', 'path'='" + directory + "')");
        sql.executeSql("USE CATALOG lake");
    }

    private static List<Row> query(String text) throws Exception {
        return CollectionUtil.iteratorToList(sql.executeSql(text).collect());
    }

    /** Declares a table of the temporary catalog over a dataset that need not exist. */
    private static String declare(String name, String columns, String options) {
        return declare(sql, name, columns, "", options);
    }

    private static String declare(
            TableEnvironment environment, String name, String columns, String clause, String options) {
        environment.executeSql("CREATE TEMPORARY TABLE `" + name + "` (" + columns + ") " + clause
                + " WITH ('connector'='stoker', 'path'='" + directory.resolve(name) + "'" + options + ")");
        return name;
    }

    private static void insert(String text) throws Exception {
        sql.executeSql(text).await();
    }

    private static Dataset open(ObjectStore store) throws IOException {
        return Dataset.open(store);
    }

    @Test
    void copiesTheValuesOfEveryType() throws Exception {
        DatasetInfo every;
        try (ObjectStore store =
                        DatasetStore.BY_LOCATION.open(directory.resolve("every").toString());
                ObjectStore copied =
                        DatasetStore.BY_LOCATION.open(directory.resolve("copy").toString())) {
            every = open(store).info();
            Dataset.create(
                    copied,
                    new DatasetInfo(UUID.randomUUID(), "copy", every.created(), every.fields(), every.options()));
        }
        String fields = every.fields().stream().map(Field::name).collect(Collectors.joining(", "));
        insert("INSERT INTO `copy` SELECT " + fields + " FROM `every`");
        List<Row> before = query("SELECT " + fields + " FROM `every` ORDER BY number");
        assertThat(query("SELECT " + fields + " FROM `copy` ORDER BY number"))
                .hasSize(30)
                .isEqualTo(before);
        verify("copy", 1, 30);
    }

    /** Checks the newest version, and that no lease is left. */
    private static void verify(String name, long versions, long rows) throws Exception {
        try (ObjectStore store =
                DatasetStore.BY_LOCATION.open(directory.resolve(name).toString())) {
            Dataset dataset = open(store);
            assertThat(dataset.latestVersion()).isEqualTo(versions);
            assertThat(dataset.snapshot().table().liveRows()).isEqualTo(rows);
            assertThat(new Leases(dataset).all()).isEmpty();
        }
    }

    @Test
    @Tag("full-programs")
    void planningCreatesNothingAndTheFirstInsertCreatesTheDataset() throws Exception {
        String table = declare(
                "created",
                "label STRING, size_ INT NOT NULL, image BYTES, tags ARRAY<STRING>",
                ", 'sink.categorical'='label', 'sink.split'='val'");
        String insert = "INSERT INTO " + table + " VALUES ('cat', 1, x'01', ARRAY['a', 'b']), "
                + "('dog', 2, CAST(NULL AS BYTES), CAST(NULL AS ARRAY<STRING>))";
        assertThat(sql.explainSql(insert)).contains("created");
        assertThat(directory.resolve(table)).doesNotExist();
        insert("INSERT INTO " + table + " SELECT * FROM (VALUES ('a', 1, x'01', ARRAY['a'])) t WHERE 1 = 0");
        assertThat(directory.resolve(table)).doesNotExist();
        insert(insert);
        insert(insert);
        verify(table, 2, 4);
        assertThat(query("SELECT label, size_, image, tags, _split, _version FROM lake.`default`.`" + table
                        + "$v1` ORDER BY size_"))
                .hasSize(2);
        try (ObjectStore store =
                DatasetStore.BY_LOCATION.open(directory.resolve(table).toString())) {
            assertThat(open(store).info().fields().stream().map(Field::toString))
                    .containsExactly(
                            "Field[name=label, type=categorical, nullable=true, payload=false]",
                            "Field[name=size_, type=int32, nullable=false, payload=false]",
                            "Field[name=tags, type=utf8[], nullable=true, payload=false]",
                            "Field[name=image, type=binary, nullable=true, payload=true]");
            assertThat(open(store).snapshot().splits()).containsExactly("val");
        }
        sql.executeSql("DROP TEMPORARY TABLE " + table);
        assertThat(query("SELECT COUNT(DISTINCT key), COUNT(*) FROM " + table)).containsExactly(Row.of(4L, 4L));
    }

    @Test
    @Tag("full-programs")
    void overwriteReplacesAllRowsInANewVersion() throws Exception {
        String table = declare("replaced", "n INT", "");
        insert("INSERT INTO " + table + " VALUES (1), (2)");
        insert("INSERT OVERWRITE " + table + " VALUES (3)");
        verify(table, 2, 1);
        assertThat(query("SELECT n FROM " + table)).containsExactly(Row.of(3));
        assertThat(query("SELECT n FROM " + table + " /*+ OPTIONS('version'='1') */"))
                .containsExactlyInAnyOrder(Row.of(1), Row.of(2));
        sql.executeSql("DROP TEMPORARY TABLE " + table);
    }

    @Test
    @Tag("full-programs")
    void writesManyChunksInParallelAsOneVersion() throws Exception {
        String table = declare("many", "number BIGINT, text STRING", ", 'sink.chunk-size'='64kb'");
        insert("INSERT INTO " + table + " SELECT a.number * 30 + b.number, a.p_utf8 FROM lake.`default`.`every` a, "
                + "lake.`default`.`every` b, lake.`default`.`every` c WHERE c.number < 10");
        verify(table, 1, 9000);
        assertThat(query("SELECT COUNT(*), COUNT(DISTINCT number) FROM " + table))
                .containsExactly(Row.of(9000L, 900L));
        sql.executeSql("DROP TEMPORARY TABLE " + table);
    }

    @Test
    void twoInsertsAtOnceBothCommit() throws Exception {
        String table = declare("twice", "n INT", "");
        insert("INSERT INTO " + table + " VALUES (0)");
        List<CompletableFuture<?>> jobs = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            TableResult result = sql.executeSql("INSERT INTO " + table + " VALUES (" + i + ")");
            jobs.add(result.getJobClient().orElseThrow().getJobExecutionResult());
        }
        for (CompletableFuture<?> job : jobs) {
            job.get();
        }
        verify(table, 3, 3);
        sql.executeSql("DROP TEMPORARY TABLE " + table);
    }

    @Test
    void aFailedInsertCommitsNothing() throws Exception {
        String table = declare("failed", "n INT NOT NULL, items ARRAY<INT>", "");
        insert("INSERT INTO " + table + " VALUES (1, ARRAY[1])");
        assertFails(
                "INSERT INTO " + table + " VALUES (2, ARRAY[1]), (3, ARRAY[1, CAST(NULL AS INT)])", "column 'items'");
        verifyVersion(table, 1);
        sql.executeSql("DROP TEMPORARY TABLE " + table);
    }

    private static void assertFails(String statement, String message) {
        assertThatThrownBy(() -> insert(statement))
                .satisfies(failure ->
                        assertThat(ExceptionUtils.stringifyException(failure)).contains(message));
    }

    @Test
    void refusesWhatCannotBeCommitted() throws Exception {
        declare("map", "m MAP<STRING, INT>, t TIME(3), i INT", ", 'sink.categorical'='i', 'sink.payload'='x'");
        assertFails("INSERT INTO `map` VALUES (MAP['a', 1], TIME '10:00:00', 1)", "no fields of type MAP<STRING, INT>");
        assertFails("INSERT INTO `map` VALUES (MAP['a', 1], TIME '10:00:00', 1)", "'x', which is no column");
        assertFails("INSERT INTO `map` VALUES (MAP['a', 1], TIME '10:00:00', 1)", "only STRING can be categorical");
        declare("every", "number BIGINT, p_utf8 STRING, p_list ARRAY<INT>", ", 'version'='1'");
        assertFails("INSERT INTO `every` VALUES (1, 'a', ARRAY[1])", "INSERT into the table without");
        sql.executeSql("DROP TEMPORARY TABLE `every`");
        assertFails("DELETE FROM `every` WHERE number = 1", "delete operation");
        assertThat(Files.exists(directory.resolve("map"))).isFalse();
        TableEnvironment streaming = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
        declare(streaming, "numbers", "n INT", "", "");
        streaming.executeSql("CREATE TEMPORARY TABLE endless (n INT) WITH ('connector'='datagen')");
        assertRefuses(streaming, "INSERT INTO numbers SELECT n FROM endless", "set 'execution.checkpointing.interval'");
        streaming.getConfig().set("execution.checkpointing.interval", "100 ms");
        declare(streaming, "keys", "key STRING, n INT", "", "");
        assertRefuses(
                streaming,
                "INSERT INTO `keys` SELECT 'a', n FROM endless",
                "cannot compare given keys with each other");
        assertRefuses(
                streaming,
                "INSERT INTO numbers SELECT MAX(n) FROM endless GROUP BY n",
                "doesn't support consuming update");
        sql.executeSql("DROP TEMPORARY TABLE `map`");
    }

    private static void assertRefuses(TableEnvironment environment, String statement, String message) {
        assertThatThrownBy(() -> environment.executeSql(statement))
                .satisfies(failure ->
                        assertThat(ExceptionUtils.stringifyException(failure)).contains(message));
    }

    @Test
    void aStreamCommitsAllRowsOnce() throws Exception {
        TableEnvironment streaming = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
        streaming.getConfig().set("execution.checkpointing.interval", "100 ms");
        streaming.getConfig().set("parallelism.default", "2");
        declare(streaming, "every", "number BIGINT, p_utf8 STRING", "", "");
        String table = declare(streaming, "streamed", "number BIGINT, p_utf8 STRING", "", "");
        streaming.executeSql("INSERT INTO " + table + " SELECT * FROM `every`").await();
        assertThat(query("SELECT COUNT(*), COUNT(DISTINCT number), COUNT(DISTINCT key) FROM " + table))
                .containsExactly(Row.of(30L, 30L, 30L));
        try (ObjectStore store =
                DatasetStore.BY_LOCATION.open(directory.resolve(table).toString())) {
            assertThat(new Leases(open(store)).all()).isEmpty();
        }
    }

    @Test
    @Tag("full-programs")
    void thePartitionNamesTheSplit() throws Exception {
        String table = declare(sql, "parted", "s STRING, n INT", "PARTITIONED BY (s)", "");
        insert("INSERT INTO " + table + " PARTITION (s='val') VALUES (1), (2)");
        insert("INSERT INTO " + table + " VALUES ('test', 3), (CAST(NULL AS STRING), 4)");
        assertThat(query("SELECT n, s FROM " + table + " ORDER BY n"))
                .containsExactly(Row.of(1, "val"), Row.of(2, "val"), Row.of(3, "test"), Row.of(4, "train"));
        assertThat(query("SELECT n FROM " + table + " WHERE s = 'val' AND n > 1"))
                .containsExactly(Row.of(2));
        assertThat(query("SELECT n, _split FROM lake.`default`.`parted$v2` WHERE _split <> 'val' ORDER BY n"))
                .containsExactly(Row.of(3, "test"), Row.of(4, "train"));
        assertFails("INSERT OVERWRITE " + table + " PARTITION (s='val') VALUES (5)", "not only those of a split");
        verify(table, 2, 4);
        sql.executeSql("DROP TEMPORARY TABLE " + table);
        declare(sql, table, "n INT, s STRING METADATA FROM 'split'", "", "");
        insert("INSERT INTO " + table + " VALUES (6, 'extra')");
        assertThat(query("SELECT s FROM " + table + " WHERE n = 6")).containsExactly(Row.of("extra"));
        sql.executeSql("DROP TEMPORARY TABLE " + table);
        declare(sql, table, "n INT, s STRING", "PARTITIONED BY (n)", "");
        assertFails("INSERT INTO " + table + " VALUES (1, 'a')", "partition column 'n' is INT; a split is a STRING");
        sql.executeSql("DROP TEMPORARY TABLE " + table);
    }

    @Test
    @Tag("full-programs")
    void givenKeysAreUniqueInTheDataset() throws Exception {
        String table = declare("keyed", "`key` STRING NOT NULL, n INT, PRIMARY KEY (`key`) NOT ENFORCED", "");
        insert("INSERT INTO " + table + " VALUES ('a', 1), ('b', 2)");
        assertThat(query("SELECT `key`, n FROM " + table + " ORDER BY n"))
                .containsExactly(Row.of("a", 1), Row.of("b", 2));
        assertFails(
                "INSERT INTO " + table + " VALUES ('c', 3), ('c', 4)", "The key c occurs twice in the rows to write");
        assertFails("INSERT INTO " + table + " VALUES ('d', 3), ('a', 4)", "already has a sample with the key a");
        verifyVersion(table, 1);
        insert("INSERT OVERWRITE " + table + " VALUES ('a', 5)");
        sql.executeSql("DROP TEMPORARY TABLE " + table);
        declare(table, "n INT, k STRING NOT NULL METADATA FROM 'key'", "");
        insert("INSERT INTO " + table + " VALUES (6, 'f')");
        assertThat(query("SELECT k, n FROM " + table + " ORDER BY n")).containsExactly(Row.of("a", 5), Row.of("f", 6));
        sql.executeSql("DROP TEMPORARY TABLE " + table);
    }

    @Test
    @Tag("full-programs")
    void thePrimaryKeyIsMadeOfFields() throws Exception {
        String table = declare(
                "joined", "name STRING NOT NULL, page INT NOT NULL, n INT, PRIMARY KEY (name, page) NOT ENFORCED", "");
        insert("INSERT INTO " + table + " VALUES ('a', 1, 1), ('a', 2, 2)");
        assertFails("INSERT INTO " + table + " VALUES ('a', 2, 3)", "already has a sample with the key a/2");
        sql.executeSql("DROP TEMPORARY TABLE " + table);
        assertThat(query("SELECT key, name, page FROM " + table + " ORDER BY page"))
                .containsExactly(Row.of("a/1", "a", 1), Row.of("a/2", "a", 2));
        declare("double", "d DOUBLE NOT NULL, PRIMARY KEY (d) NOT ENFORCED", "");
        assertFails("INSERT INTO `double` VALUES (CAST(1 AS DOUBLE))", "a key is made of STRING columns and integers");
        declare("both", "`key` STRING, n INT NOT NULL, PRIMARY KEY (n) NOT ENFORCED", "");
        assertFails("INSERT INTO `both` VALUES ('a', 1)", "the primary key is not column 'key'");
        sql.executeSql("DROP TEMPORARY TABLE `double`");
        sql.executeSql("DROP TEMPORARY TABLE `both`");
    }

    private static void verifyVersion(String name, long version) throws IOException {
        try (ObjectStore store =
                DatasetStore.BY_LOCATION.open(directory.resolve(name).toString())) {
            assertThat(open(store).latestVersion()).isEqualTo(version);
        }
    }
}

package dev.stoker.sql.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CollectionUtil;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tables of real warehouses of Iceberg and Paimon become datasets, and datasets become such tables. */
@Timeout(300)
class LakePeers {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(1)
            .setNumberSlotsPerTaskManager(4)
            .build());

    private static final String COLUMNS = "id, label, image, taken, price, scores";

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({
        "iceberg, 'catalog-type'='hadoop', snapshot-id, committed_at",
        "paimon, 'metastore'='filesystem', scan.snapshot-id, commit_time"
    })
    void tablesAndDatasetsBecomeEachOther(String type, String option, String snapshotOption, String time)
            throws Exception {
        TableEnvironment sql = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        sql.getConfig().set("parallelism.default", "2");
        sql.executeSql("CREATE CATALOG lake WITH ('type'='" + type + "', " + option + ", 'warehouse'='file://"
                + directory.resolve("warehouse") + "')");
        sql.executeSql("CREATE CATALOG datasets WITH ('type'='stoker', 'path'='" + directory + "')");
        sql.executeSql("CREATE DATABASE lake.d");
        String types =
                "(id BIGINT, label STRING, image BYTES, taken TIMESTAMP(6), price DECIMAL(12, 2), scores ARRAY<FLOAT>)";
        sql.executeSql("CREATE TABLE lake.d.photos " + types);
        insert(sql, 1, 3000);
        insert(sql, 3001, 5000);
        sql.executeSql("CREATE TEMPORARY TABLE packed " + types
                + " WITH ('connector'='stoker', 'sink.categorical'='label', 'path'='" + directory.resolve("photos")
                + "')");

        sql.executeSql("INSERT INTO packed SELECT * FROM lake.d.photos").await();
        sql.executeSql("CREATE TABLE lake.d.back " + types);
        sql.executeSql("INSERT INTO lake.d.back SELECT " + COLUMNS + " FROM datasets.`default`.photos")
                .await();

        String packed = "(SELECT " + text() + " FROM datasets.`default`.photos)";
        for (String other : List.of("photos", "back")) {
            String table = "(SELECT " + text() + " FROM lake.d." + other + ")";
            assertThat(rows(sql, "SELECT COUNT(*) FROM " + table)).containsExactly(Row.of(5000L));
            assertThat(rows(sql, packed + " EXCEPT " + table)).isEmpty();
            assertThat(rows(sql, table + " EXCEPT " + packed)).isEmpty();
        }

        Object first = rows(sql, "SELECT snapshot_id FROM lake.d.`photos$snapshots` ORDER BY " + time + " LIMIT 1")
                .get(0)
                .getField(0);
        sql.executeSql("INSERT OVERWRITE packed SELECT * FROM lake.d.photos /*+ OPTIONS('" + snapshotOption + "'='"
                        + first + "') */")
                .await();
        assertThat(rows(sql, "SELECT COUNT(*), MAX(id) FROM datasets.`default`.photos"))
                .containsExactly(Row.of(3000L, 3000L));
        assertThat(rows(sql, "SELECT COUNT(*) FROM datasets.`default`.`photos$v1`"))
                .containsExactly(Row.of(5000L));
    }

    /** Each seventh row has nulls; each fifth one has an empty list. */
    private static void insert(TableEnvironment sql, int first, int last) throws Exception {
        sql.executeSql("CREATE TEMPORARY TABLE numbers" + first + " (id BIGINT) WITH ('connector'='datagen',"
                + " 'number-of-rows'='" + (last - first + 1) + "', 'fields.id.kind'='sequence', 'fields.id.start'='"
                + first + "', 'fields.id.end'='" + last + "')");
        String image = "ENCODE(REPEAT('€', CAST(MOD(id, 50) AS INT)), 'UTF-8')";
        String taken = "TIMESTAMPADD(SECOND, CAST(id AS INT), TIMESTAMP '2026-01-01 00:00:00.123456')";
        String none = "ARRAY_REMOVE(ARRAY[CAST(1 AS FLOAT)], CAST(1 AS FLOAT))";
        sql.executeSql("INSERT INTO lake.d.photos SELECT id, CONCAT('class ', CAST(id / 100 AS STRING)),"
                        + " CASE WHEN MOD(id, 7) = 0 THEN NULL ELSE " + image + " END, " + taken + ","
                        + " CASE WHEN MOD(id, 7) = 0 THEN NULL ELSE CAST(id AS DECIMAL(12, 2)) / 4 END,"
                        + " CASE WHEN MOD(id, 5) = 0 THEN " + none
                        + " ELSE ARRAY[CAST(id AS FLOAT), CAST(0.5 AS FLOAT)] END FROM numbers" + first)
                .await();
    }

    /** EXCEPT does not compare arrays. */
    private static String text() {
        return COLUMNS.replace("scores", "CAST(scores AS STRING) AS scores");
    }

    private static List<Row> rows(TableEnvironment sql, String query) throws Exception {
        return CollectionUtil.iteratorToList(sql.executeSql(query).collect());
    }
}

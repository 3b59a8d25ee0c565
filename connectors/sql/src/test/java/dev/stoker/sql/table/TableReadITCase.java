package dev.stoker.sql.table;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.EveryTypeDataset;
import dev.stoker.connectors.dataset.MeteredStores;
import dev.stoker.connectors.shared.SharedFlink;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.update.NewValues;
import dev.stoker.metadata.update.SampleUpdate;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CollectionUtil;
import org.apache.flink.util.ExceptionUtils;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class TableReadITCase {

    @RegisterExtension
    static final SharedFlink CLUSTER = SharedFlink.ofParallelism(4);

    @TempDir
    static Path directory;

    private static TableEnvironment sql;

    /** Version 1 has rows 0 to 29 of the split train, version 2 lacks 11 and 13, version 3 adds 30 and 31 of val. */
    @BeforeAll
    static void createTables() throws Exception {
        EveryTypeDataset every = EveryTypeDataset.create(directory.resolve("every"));
        every.append("train", 3, 10);
        every.remove(1, 1, 3);
        every.append("val", 1, 2);
        EveryTypeDataset.create(directory.resolve("long")).append("train", 2, 50_000);
        sql = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        sql.getConfig().set("parallelism.default", "2");
        sql.getConfig().setLocalTimeZone(ZoneOffset.UTC);
        sql.executeSql("CREATE CATALOG lake WITH ('type'='stoker', 'path'='" + directory + "')");
        sql.executeSql("USE CATALOG lake");
    }

    private static List<Row> query(String text) throws Exception {
        return CollectionUtil.iteratorToList(sql.executeSql(text).collect());
    }

    private static List<Object> column(String text) throws Exception {
        return query(text).stream().map(row -> row.getField(0)).toList();
    }

    private static Object[] numbers(int from, int to, Integer... without) {
        return IntStream.range(from, to)
                .filter(n -> !List.of(without).contains(n))
                .mapToObj(n -> (Object) (long) n)
                .toArray();
    }

    @Test
    void readsTheValuesOfEveryType() throws Exception {
        List<Row> rows = query("SELECT * FROM `every$v1` ORDER BY number");
        assertThat(rows).hasSize(30);
        for (int n = 0; n < rows.size(); n++) {
            Row row = rows.get(n);
            assertThat(row.getField("key")).isEqualTo(EveryTypeDataset.key(n));
            assertThat(row.getField("number")).isEqualTo((long) n);
            assertThat(row.getField("p_utf8")).isEqualTo(EveryTypeDataset.payload(n));
            assertThat(row.getField("p_list")).isEqualTo(ints(n, n % 4));
            for (Field field : EveryTypeDataset.fields()) {
                if (field.nullable()) {
                    Object expected = EveryTypeDataset.isNull(n) ? null : value(field, n);
                    assertThat(row.getField(field.name()))
                            .as(field + " of row " + n)
                            .isEqualTo(expected);
                }
            }
        }
    }

    /** The value of a row in the types of Flink's API. */
    private static Object value(Field field, int n) {
        if (field.name().equals("p_binary")) {
            return EveryTypeDataset.payload(n).getBytes(UTF_8);
        }
        return switch (field.type().canonical()) {
            case "bool" -> n % 2 == 1;
            case "int8" -> (byte) (n - 100);
            case "uint8" -> (short) ((n + 200) % 256);
            case "int16" -> (short) (100 - n);
            case "uint16" -> 60_000 + n;
            case "int32" -> 100 - n;
            case "uint32" -> 4_000_000_000L + n;
            case "int64" -> (long) n;
            case "uint64" -> new BigDecimal("18446744073709551615").subtract(BigDecimal.valueOf(n));
            case "float16", "bfloat16", "float32" -> n + 0.5f;
            case "float64" -> n + 0.5;
            case "utf8" -> "text ü " + n;
            case "binary" -> ("bytes " + n).getBytes(UTF_8);
            case "categorical" -> EveryTypeDataset.CLASSES.get(n % 3);
            case "date" -> LocalDate.ofEpochDay(100L - n);
            case "time[s]" -> LocalTime.ofSecondOfDay(n + 1L);
            case "time[ms]" -> LocalTime.ofNanoOfDay((n + 1L) * 1_000_000);
            case "time[us]", "time[ns]" -> n + 1L;
            case "timestamp[s]" -> local(-5L + n, 1);
            case "timestamp[ms]" -> local(-1_500L + n, 1_000);
            case "timestamp[us]" -> local(-1_500_001L + n, 1_000_000);
            case "timestamp[ns]" -> local(-1_500_000_001L + n, 1_000_000_000);
            case "timestamp[us,Europe/Berlin]" ->
                local(-1_500_001L + n, 1_000_000).toInstant(ZoneOffset.UTC);
            case "decimal(10,2)" -> BigDecimal.valueOf(100L * n - 5, 2);
            case "decimal(38,10)" -> new BigDecimal("-12345678901234567890123456.0000000001");
            case "int32[]" -> ints(n, n % 4);
            case "uint8[]" -> new Short[] {255, (short) n};
            case "float32[]" -> new Float[] {n + 0.25f};
            case "int64[2,2]" -> new Long[] {(long) n, 2L, 3L, 4L};
            case "utf8[]" -> n % 2 == 0 ? new String[0] : new String[] {"a" + n, "", "ü"};
            case "binary[]" -> new byte[][] {{1, (byte) n}};
            case "int32[][]" -> new Integer[][] {ints(n, 2), ints(n, 0), ints(n, 1)};
            case "int32?[]" -> n % 4 == 0 ? new Integer[0] : new Integer[] {n, null, -n};
            case "uint64?[]" ->
                new BigDecimal[] {null, new BigDecimal("18446744073709551615").subtract(BigDecimal.valueOf(n))};
            case "utf8?[]" -> n % 2 == 0 ? new String[] {"b" + n} : new String[] {"", null, "ü"};
            case "binary?[]" -> new byte[][] {{1, (byte) n}, null};
            case "float32[2,3]" ->
                IntStream.range(0, 6).mapToObj(i -> (float) (n + i)).toArray(Float[]::new);
            default -> throw new IllegalStateException(field.toString());
        };
    }

    /** Adds the field "score" and gives one sample a value. */
    private static void addScore(Path path, String key, long score) throws IOException {
        Field field = Field.nullable("score", ScalarType.INT64);
        ChunkBuilder builder = new ChunkBuilder(List.of(field), 4096);
        builder.beginRow(key);
        builder.setLong(0, score);
        builder.endRow();
        ByteBuffer file = ByteBuffer.allocate(1 << 14);
        builder.finish(new ChunkIdentity(new UUID(0, 0), new UUID(0, 0), "table", "table", Instant.EPOCH))
                .buffers()
                .forEach(part -> file.put(part.duplicate()));
        NewValues values = new NewValues(List.of(field), AddedFields.of(List.of(field)));
        values.add(ChunkReader.open(new BufferRangeReader("table", file.flip())));
        try (ObjectStore store = Stores.open(path.toString())) {
            new SampleUpdate(Dataset.open(store), values, SampleRule.MissingKeys.FAIL, 1, chunks -> {})
                    .commit("add", InstantSource.system(), "ada@host");
        }
    }

    @Test
    @Tag("full-programs")
    void aTableHasTheAddedFieldsOfItsVersion() throws Exception {
        Path path = directory.resolve("added");
        EveryTypeDataset every = EveryTypeDataset.create(path);
        every.append("train", 2, 3);
        addScore(path, EveryTypeDataset.key(4), 7);
        every.append("train", 1, 2);

        assertThat(column("SELECT score FROM `added` ORDER BY number"))
                .containsExactly(null, null, null, null, 7L, null, null, null);
        assertThat(column("SELECT number FROM `added` WHERE score > 5")).containsExactly(4L);
        assertThat(column("SELECT p_utf8 FROM `added` WHERE score IS NULL ORDER BY number"))
                .hasSize(7)
                .startsWith(EveryTypeDataset.payload(0));
        assertThat(column("SELECT score FROM `added$v2` ORDER BY number"))
                .containsExactly(null, null, null, null, 7L, null);
        assertThat(column("SELECT number FROM `added$v1`")).hasSize(6);
        assertThatThrownBy(() -> column("SELECT score FROM `added$v1`")).hasMessageContaining("score");
    }

    @Test
    void refusesToReadNullItemsAsItemsThatCannotBeNull() {
        String table =
                "CREATE TEMPORARY TABLE strict (f_int32_nulls_list ARRAY<INT NOT NULL>) WITH ('connector'='stoker',"
                        + " 'path'='" + directory.resolve("every") + "')";
        sql.executeSql(table);
        assertThatThrownBy(() -> column("SELECT f_int32_nulls_list FROM strict"))
                .satisfies(failure -> assertThat(ExceptionUtils.stringifyException(failure))
                        .contains("the items of column 'f_int32_nulls_list' can be null; declare them without NOT"
                                + " NULL"));
    }

    private static Integer[] ints(int n, int count) {
        return IntStream.range(n, n + count).boxed().toArray(Integer[]::new);
    }

    private static LocalDateTime local(long units, long perSecond) {
        Instant time = Instant.ofEpochSecond(
                Math.floorDiv(units, perSecond), Math.floorMod(units, perSecond) * (1_000_000_000 / perSecond));
        return LocalDateTime.ofInstant(time, ZoneOffset.UTC);
    }

    @Test
    @Tag("full-programs")
    void readsTheVersionThatTheNameOrTheTimeOrAHintSays() throws Exception {
        assertThat(column("SELECT number FROM `every`")).containsExactlyInAnyOrder(numbers(0, 32, 11, 13));
        assertThat(column("SELECT number FROM `every$v2`")).containsExactlyInAnyOrder(numbers(0, 30, 11, 13));
        assertThat(column("SELECT number FROM `every` /*+ OPTIONS('version'='1') */"))
                .containsExactlyInAnyOrder(numbers(0, 30));
        assertThat(column("SELECT number FROM `every` FOR SYSTEM_TIME AS OF TIMESTAMP '2026-01-01 01:30:00'"))
                .containsExactlyInAnyOrder(numbers(0, 30, 11, 13));
        assertThatThrownBy(() ->
                        column("SELECT number FROM `every` FOR SYSTEM_TIME AS OF TIMESTAMP '2025-12-31 00:00:00'"))
                .satisfies(failure -> assertThat(ExceptionUtils.stringifyException(failure))
                        .contains("version 1 was committed at 2026-01-01T00:00:00Z"));
    }

    @Test
    void showsTheOriginOfRows() throws Exception {
        assertThat(query("SELECT _version, _chunk, _row, _split, number FROM `every` WHERE number IN (12, 31)"))
                .containsExactlyInAnyOrder(Row.of(3L, 1L, 2, "train", 12L), Row.of(3L, 3L, 1, "val", 31L));
    }

    @Test
    @Tag("full-programs")
    void pushesDownProjectionFilterAndLimit() throws Exception {
        String plan = sql.explainSql("SELECT f_utf8 FROM `every` WHERE f_categorical = 'eel' AND number > 20");
        assertThat(plan.substring(plan.indexOf("== Optimized Execution Plan ==")))
                .contains("filter=[and(=(f_categorical", "project=[f_utf8, f_categorical, number], metadata=[]");
        assertThat(column("SELECT number FROM `every` WHERE f_categorical = 'eel' AND number > 20"))
                .containsExactlyInAnyOrder(23L, 26L, 29L);
        assertThat(column("SELECT number FROM `every` WHERE f_bool AND number < 8"))
                .containsExactlyInAnyOrder(1L, 3L, 7L);
        assertThat(column("SELECT number FROM `every` WHERE NOT f_bool AND 8 >= number"))
                .containsExactlyInAnyOrder(2L, 4L, 6L, 8L);
        assertThat(column("SELECT number FROM `every` WHERE f_date >= DATE '1970-04-08' AND number < 8"))
                .containsExactlyInAnyOrder(1L, 2L, 3L);
        assertThat(column("SELECT number FROM `every` WHERE f_int8 IS NULL AND number < 8"))
                .containsExactlyInAnyOrder(0L, 5L);
        assertThat(column("SELECT number FROM `every` WHERE f_categorical <> 'eel' AND number < 8"))
                .containsExactlyInAnyOrder(1L, 3L, 4L, 6L, 7L);
        assertThat(column("SELECT number FROM `every` WHERE f_float64 > 27.5 AND number < 30"))
                .containsExactlyInAnyOrder(28L, 29L);
        assertThat(query("SELECT _crc32c_p_list IS NULL, key, number FROM `every` WHERE key = 'key-7'"))
                .containsExactly(Row.of(false, "key-7", 7L));
        assertThat(sql.explainSql("SELECT number FROM `every` LIMIT 5")).contains("limit=[5]");
        assertThat(column("SELECT number FROM `every` LIMIT 5")).hasSize(5);
        assertThat(column("SELECT COUNT(*) FROM `every`")).containsExactly(30L);
    }

    @Test
    @Tag("full-programs")
    void readsOnlyChunksOfTheSplitInTheCondition() throws Exception {
        assertThat(column("SELECT number FROM `every` WHERE _split = 'val'")).containsExactlyInAnyOrder(30L, 31L);
        assertThat(column("SELECT number FROM `every` WHERE _split IN ('val', 'test')"))
                .containsExactlyInAnyOrder(30L, 31L);
        assertThat(column("SELECT number FROM `every` WHERE _split = 'none'")).isEmpty();
        assertThat(column("SELECT number FROM `every` /*+ OPTIONS('splits'='val') */"))
                .containsExactlyInAnyOrder(30L, 31L);
    }

    @Test
    @Tag("full-programs")
    void readsOnlyTheBytesOfNamedColumns() throws Exception {
        String where = directory.resolve("long").toString();
        sql.executeSql("CREATE TEMPORARY TABLE metered (number BIGINT NOT NULL, f_categorical STRING, p_binary BYTES,"
                + " split STRING METADATA VIRTUAL, crc BIGINT METADATA FROM 'crc32c:p_binary' VIRTUAL)"
                + " WITH ('connector'='metered', 'path'='"
                + where + "')");
        MeteredStores.take(where);
        assertThat(column("SELECT SUM(number) FROM metered")).containsExactly(99_999L * 50_000);
        assertThat(MeteredStores.take(where)).isBetween(800_000L, 840_000L);
        assertThat(query("SELECT f_categorical, COUNT(*) FROM metered GROUP BY f_categorical"))
                .hasSize(EveryTypeDataset.CLASSES.size() + 1);
        // Four bytes for each label, and a bit for each null.
        assertThat(MeteredStores.take(where)).isBetween(412_500L, 433_125L);
        assertThat(column("SELECT COUNT(*) FROM metered")).containsExactly(100_000L);
        assertThat(MeteredStores.take(where)).isZero();
        assertThat(column("SELECT COUNT(*) FROM metered WHERE split = 'val'")).containsExactly(0L);
        assertThat(column("SELECT number FROM metered WHERE split = 'val'")).isEmpty();
        assertThat(MeteredStores.take(where)).isZero();
        assertThat(query("SELECT p_binary FROM metered WHERE number = 7")).hasSize(1);
        // The column of the condition, the places and checksums of payload in one of two chunks, and one value.
        assertThat(MeteredStores.take(where)).isBetween(1_200_000L, 1_300_000L);
        assertThat(query("SELECT crc FROM metered WHERE number < 70000")).hasSize(70_000);
        // The column of the condition, and the checksums of payload.
        assertThat(MeteredStores.take(where)).isBetween(1_200_000L, 1_300_000L);
    }

    @Test
    void readsTheChecksumsOfPayload() throws Exception {
        for (Row row : query("SELECT number, _crc32c_p_binary, _crc32c_p_utf8 FROM `every$v1`")) {
            long number = (long) row.getField(0);
            CRC32C crc = new CRC32C();
            crc.update(EveryTypeDataset.payload(number).getBytes(UTF_8));
            assertThat(row.getField(1)).isEqualTo(EveryTypeDataset.isNull(number) ? 0L : crc.getValue());
            assertThat(row.getField(2)).isEqualTo(crc.getValue());
        }
    }

    @Test
    void listsTheDatasetsOfTheDirectory() throws Exception {
        assertThat(column("SHOW TABLES")).contains("every", "long");
        assertThatThrownBy(() -> query("SELECT * FROM nothing")).hasMessageContaining("nothing");
        assertThatThrownBy(() -> query("SELECT * FROM `every$v9`"))
                .satisfies(failure ->
                        assertThat(ExceptionUtils.stringifyException(failure)).contains("version 9"));
    }

    @Test
    void refusesDeclarationsThatDoNotFitTheDataset() {
        sql.executeSql("CREATE TEMPORARY TABLE wrong (number INT, nothing INT, f_int8 TINYINT NOT NULL)"
                + " WITH ('connector'='stoker', 'path'='" + directory.resolve("every") + "')");
        assertThatThrownBy(() -> query("SELECT * FROM wrong"))
                .satisfies(failure -> assertThat(ExceptionUtils.stringifyException(failure))
                        .contains(
                                "column 'number' is BIGINT, not INT",
                                "it has no column 'nothing'; it has key, f_bool",
                                "column 'f_int8' can be null"));
        sql.executeSql("DROP TEMPORARY TABLE wrong");
    }
}

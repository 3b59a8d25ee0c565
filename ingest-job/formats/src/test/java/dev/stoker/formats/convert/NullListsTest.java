package dev.stoker.formats.convert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.ReadRows;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowFormat;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema.RefusedColumn;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.arrow.ArrowFormat;
import dev.stoker.formats.avro.AvroFormat;
import dev.stoker.formats.parquet.ParquetFormat;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists whose items are of type null, which have no values but lengths. */
class NullListsTest {
    private static final String FILES = "null-lists";

    private static RowFile open(String format) throws IOException {
        RowFormat reader = switch (format) {
            case "parquet" -> new ParquetFormat();
            case "arrow" -> new ArrowFormat();
            default -> new AvroFormat();
        };
        byte[] bytes = ReadRows.resource(format + "/" + FILES + "." + format);
        return reader.open(new BufferRangeReader("test-file", ByteBuffer.wrap(bytes)), ReadLimits.DEFAULT);
    }

    private static ReadRows read(String format, Map<String, String> types) throws IOException {
        Map<String, FieldType> parsed = types.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, type -> FieldType.parse(type.getValue())));
        try (RowFile file = ConvertedFile.of(open(format), parsed)) {
            return ReadRows.of(file);
        }
    }

    private static List<String> column(ReadRows rows, String name) {
        int place =
                rows.columns().stream().map(column -> column.get(0)).toList().indexOf(name);
        return rows.rows().stream().map(row -> row.get(place)).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"parquet", "arrow", "avro"})
    void areRefusedWithTheNextStepIfNobodyNamesAType(String format) throws Exception {
        try (RowFile file = open(format)) {
            assertThat(file.schema().refused())
                    .extracting(RefusedColumn::name, RefusedColumn::reason)
                    .contains(tuple(
                            "v",
                            "all its items are null, or all its lists are empty; give its type, such as"
                                    + " --type v=float64[]"));
            assertThat(file.schema().refused()).noneMatch(RefusedColumn::isNull);
        }
        ReadRows scalar = read(format, Map.of("v", "float64"));
        assertThat(scalar.refused()).containsExactly("v", "w", "s.l");
    }

    @ParameterizedTest
    @ValueSource(strings = {"parquet", "arrow", "avro"})
    void areListsOfTheTypeThatIsNamed(String format) throws Exception {
        List<String> empty = Arrays.asList("", "", null);
        for (String type : List.of("float64[]", "float64?[]", "int8[]", "uint8?[]")) {
            ReadRows rows = read(format, Map.of("v", type));
            assertThat(rows.refused()).as(type).containsExactly("w", "s.l");
            assertThat(column(rows, "v")).as(type).isEqualTo(empty);
            assertThat(column(rows, "last")).as(type).containsExactly("7", "8", "9");
        }
        for (String type : List.of("utf8[]", "binary[]")) {
            assertThat(column(read(format, Map.of("v", type)), "v"))
                    .as(type)
                    .isEqualTo(Arrays.asList("[]", "[]", null));
        }
        assertThat(column(read(format, Map.of("v", "float32[][]")), "v")).isEqualTo(Arrays.asList(":", ":", null));
    }

    @ParameterizedTest
    @ValueSource(strings = {"parquet", "arrow", "avro"})
    void inAStructAreListsToo(String format) throws Exception {
        ReadRows rows = read(format, Map.of("s.l", "float64[]"));

        assertThat(column(rows, "s.l")).isEqualTo(Arrays.asList("", null, null));
        assertThat(column(rows, "s.a")).isEqualTo(Arrays.asList("1", "2", null));
        assertThat(rows.refused()).containsExactly("v", "w");
    }

    @ParameterizedTest
    @ValueSource(strings = {"parquet", "arrow", "avro"})
    void keepTheRuleOfNullItems(String format) throws Exception {
        ReadRows rows = read(format, Map.of("w", "float64[]"));

        assertThat(rows.bad()).hasSize(1);
        assertThat(rows.bad().get(0)).startsWith(0, "w");
        assertThat(rows.bad().get(0).get(2).toString()).startsWith("an item of list 'w' is null");
        assertThat(column(rows, "w").subList(1, 3)).isEqualTo(Arrays.asList("", null));

        for (String type : List.of("float64?[]", "utf8?[]")) {
            ItemSink sink = new ItemSink();
            try (RowFile file = ConvertedFile.of(open(format), Map.of("w", FieldType.parse(type)))) {
                int place = file.schema().columns().size() - 1;
                try (RowReader reader = file.read(file.parts().get(0), new int[] {place})) {
                    assertThat(reader.next()).isTrue();
                    reader.get(0, sink);
                }
            }
            assertThat(sink.items).as(type).containsExactly(null, null);
        }
    }

    /** Takes lists with null items. */
    private static final class ItemSink implements ValueSink {
        private final List<Object> items = new ArrayList<>();

        @Override
        public boolean takesNullItems() {
            return true;
        }

        @Override
        public void setItems(List<? extends @Nullable ByteBuffer> given) {
            items.addAll(given);
        }

        @Override
        public void setNull() {
            throw new AssertionError("a null");
        }

        @Override
        public void setLong(long value) {
            throw new AssertionError("an integer");
        }

        @Override
        public void setDouble(double value) {
            throw new AssertionError("a number");
        }

        @Override
        public void setDecimal(BigDecimal value) {
            throw new AssertionError("a decimal");
        }

        @Override
        public void setBytes(ByteBuffer bytes) {
            throw new AssertionError("bytes");
        }

        @Override
        public void setBytesList(List<ByteBuffer> given) {
            throw new AssertionError("a list without nulls");
        }

        @Override
        public void setLists(ByteBuffer given, int[] lengths) {
            throw new AssertionError("lists");
        }
    }
}

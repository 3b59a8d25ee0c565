package dev.stoker.formats.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.ReadRows;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.json.JsonLinesFormat;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.condition.RowPredicate;
import dev.stoker.schemas.io.BufferRangeReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PartitionTest {
    private static final List<GivenColumn> GIVEN = List.of(
            GivenColumn.ofDirectory("year", ScalarType.INT64, "2026"),
            GivenColumn.ofDirectory("city", ScalarType.UTF8, "Zürich"),
            GivenColumn.ofDirectory("none", ScalarType.UTF8, null));

    private static RowFile file(String lines, List<GivenColumn> given) throws Exception {
        RowFile file = new JsonLinesFormat()
                .open(
                        new BufferRangeReader("f.jsonl", ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8))),
                        ReadLimits.DEFAULT);
        return CompletedFile.of(file, "f.jsonl", given);
    }

    @Test
    void directoriesWithANameAndAValueAreColumns() {
        Map<String, Optional<String>> expected = new LinkedHashMap<>();
        expected.put("year", Optional.of("2026"));
        expected.put("a b", Optional.of("x=y/z ü%+"));
        expected.put("city", Optional.empty());
        expected.put("e", Optional.of(""));
        assertThat(PartitionPath.parse(
                        "data/year=2026/a%20b=x=y%2Fz %C3%BC%25+/=3/city=__HIVE_DEFAULT_PARTITION__/e=/n=1.parquet"))
                .containsExactlyEntriesOf(expected);
        assertThat(PartitionPath.parse("x=1.parquet")).isEmpty();
        assertThat(PartitionPath.parse("x=%zz%4/f")).containsEntry("x", Optional.of("%zz%4"));
        assertThatThrownBy(() -> PartitionPath.parse("x=1/x=1/f")).hasMessageContaining("have the name x");
    }

    @ParameterizedTest
    @CsvSource({
        "1 2 -3,int64",
        "007 12,utf8",
        "7 07,utf8",
        "0,int64",
        "-0 1,utf8",
        "1 null,int64",
        "null,utf8",
        "1 a,utf8",
        "1.5,utf8",
        "9223372036854775807,int64",
        "9223372036854775808,utf8"
    })
    void integersAreNumbers(String values, String type) {
        List<Optional<String>> texts = List.of(values.split(" ")).stream()
                .map(text -> text.equals("null") ? Optional.<String>empty() : Optional.of(text))
                .toList();
        assertThat(PartitionPath.type(texts)).isEqualTo(FieldType.parse(type));
    }

    @Test
    void givenColumnsFollowThoseOfTheFile() throws Exception {
        ReadRows rows = ReadRows.of(file("{\"x\":1}\n{\"x\":2}\n", GIVEN));
        assertThat(rows.columns())
                .containsExactly(
                        List.of("x", "int64", true),
                        List.of("year", "int64", false),
                        List.of("city", "utf8", false),
                        List.of("none", "utf8", true));
        assertThat(rows.rows()).hasSize(2);
        assertThat(rows.rows().get(1).toString()).contains("2026", "5ac3bc72696368");
        assertThat(rows.bad()).isEmpty();
    }

    @Test
    void aColumnOfTheFileMustHaveTheGivenValue() throws Exception {
        String lines =
                "{\"year\":2026,\"none\":null,\"city\":\"Zürich\"}\n{\"year\":2025,\"none\":\"x\",\"city\":\"\"}\n";
        ReadRows rows = ReadRows.of(file(lines, GIVEN));
        assertThat(rows.columns()).hasSize(3);
        assertThat(rows.bad()).hasSize(3);
        assertThat(rows.bad().toString())
                .contains("the value in the file differs from the value of its directory year=2026")
                .contains("directory none=__HIVE_DEFAULT_PARTITION__")
                .contains("directory city=Zürich");
        assertThatThrownBy(
                        () -> file("{\"year\":1}\n", List.of(GivenColumn.ofDirectory("year", ScalarType.UTF8, "last"))))
                .hasMessageContainingAll("f.jsonl has the column year of type int64", "year=last");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "year = 2026|true",
                "year > 2026|false",
                "NOT year = 2026|false",
                "x = 5|true",
                "x = 5 AND year < 2000|false",
                "x = 5 OR year < 2000|true",
                "NOT (x = 5 OR year = 2026)|false",
                "none = 'a'|false",
                "none != 'a'|false",
                "NOT none = 'a'|false",
                "none IS NULL AND city IN ('Bern', 'Zürich')|true",
                "city IS NULL|false"
            })
    void aFileIsExcludedByItsDirectories(String expression, boolean mayMatch) throws Exception {
        RowFile file = file("{\"x\":1}\n", GIVEN);
        Map<String, RowColumn> columns = new LinkedHashMap<>();
        file.schema().columns().forEach(column -> columns.put(column.name(), column));
        RowPredicate predicate = RowExpression.parse(expression).bind(RowColumn.types(columns));
        assertThat(CompletedFile.mayMatch(GIVEN, predicate)).isEqualTo(mayMatch);
        assertThat(((CompletedFile) file).mayMatch(file.parts().get(0), predicate))
                .isEqualTo(mayMatch);
    }
}

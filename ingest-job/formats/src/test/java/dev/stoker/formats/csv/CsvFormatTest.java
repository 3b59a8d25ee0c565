package dev.stoker.formats.csv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.ColumnHints.Others;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.Rows;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CsvFormatTest {
    private static final CsvFormat FORMAT = new CsvFormat();

    private static RowFile open(String text) throws IOException {
        return FORMAT.open(Rows.file("a.csv", text), ReadLimits.DEFAULT);
    }

    private static RowFile open(String text, ColumnHints hints) throws IOException {
        return FORMAT.open(Rows.file("a.csv", text), ReadLimits.DEFAULT, hints);
    }

    @ParameterizedTest
    @CsvSource({
        "1 2 -3,int64",
        "1 2.5,float64",
        "1e3 .5 -1.,float64",
        "true False TRUE,bool",
        "00123 1,utf8",
        "007,utf8",
        "+1,utf8",
        "1 x,utf8",
        "9223372036854775807,int64",
        "9223372036854775808,utf8",
        "9007199254740993 0.5,utf8",
        "nan,utf8",
        "nan 1,float64",
        "-inf 0.5,float64",
        "-0,float64",
        "1e999,utf8",
        "0x10,utf8",
        "1_000,utf8"
    })
    void infersTypes(String values, String type) throws Exception {
        RowFile file = open("a,b\n" + values.replace(" ", ",x\n") + ",x\n");
        assertThat(file.schema().columns().get(0).type().canonical()).isEqualTo(type);
        assertThat(Rows.read(file).toString()).doesNotContain("refused");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            value = {"a;b~1,5;2,5~!;", "a,b~1;2,3~!,", "a|b|c~1,2|3|4~!|", "a~1~!,", "\"a;x\",b~1,2~!,", "a;b~1,5;2~!;"
            })
    void findsTheDelimiter(String text, char delimiter) {
        assertThat(Delimiter.find(text.replace('~', '\n'), true)).isEqualTo(delimiter);
    }

    @Test
    void findsTabs() {
        assertThat(Delimiter.find("a\tb\tc\n1,2\t3\t4\n", true)).isEqualTo('\t');
    }

    @Test
    void tellsEmptyTextFromNothing() throws Exception {
        assertThat(Rows.read(open("a,b\r\n\"\",x\r\n,\"say \"\"hi\"\"\nthere\"\r\n")))
                .containsExactly("[\"\",\"x\"]", "[null,\"say \\\"hi\\\"\\nthere\"]");
    }

    @Test
    void keepsRepeatedNamesAndNamesColumnsWithoutOne() throws Exception {
        RowFile file = open(",a,a\n0,x,y\n");
        assertThat(file.schema().columns().stream().map(column -> column.name()))
                .containsExactly("column1", "a", "a");
        assertThat(Rows.read(file)).containsExactly("[0,\"x\",\"y\"]");
    }

    @Test
    void refusesAFileWithoutHeaderUnlessItsColumnsAreNamed() throws Exception {
        assertThatThrownBy(() -> open("5,6\n7,8\n"))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("a.csv has no header");
        assertThat(Rows.read(open("5,6\n7,8\n", new ColumnHints(List.of("x", "y"), Map.of(), Set.of(), Others.INFER))))
                .containsExactly("[5,6]", "[7,8]");
        assertThat(Rows.read(open("0,1\n7,8\n"))).containsExactly("[7,8]");
    }

    @Test
    void readsDeclaredTypes() throws Exception {
        ColumnHints hints = ColumnHints.types(Map.of(
                "a", FieldType.parse("int32"), "b", FieldType.parse("timestamp[s]"), "c", FieldType.parse("utf8")));
        RowFile file = open("a,b,c\n 007,2026-01-31 10:00:00,1\nx,2026-01-31,2\n5000000000,soon,3\n", hints);
        List<String> rows = Rows.read(file);
        assertThat(rows.get(0)).isEqualTo("[7,1769853600,\"1\"]");
        assertThat(rows.get(1)).contains("refused: 'x' is not int32").contains("1769817600");
        assertThat(rows.get(2)).contains("5000000000 does not fit into int32").contains("expected ISO 8601");
    }

    @Test
    void refusesLaterValuesOfAnotherTypeAlone() throws Exception {
        RowFile file = open("a,b\n" + "1,x\n".repeat(10_000) + "00123,y\n2,z\n");
        List<String> rows = Rows.read(file);
        assertThat(rows.get(10_000)).contains("refused: '00123' is not int64 as in the first rows; use --type a=utf8");
        assertThat(rows.get(10_001)).isEqualTo("[2,\"z\"]");
    }

    @Test
    void refusesRecordsWithMoreOrFewerValuesAndGoesOn() throws Exception {
        RowFile file = open("a,b\n1,2\n\n1,2,3\n4,5\n");
        try (RowReader reader = file.read(file.parts().get(0), new int[] {1})) {
            assertThat(reader.next()).isTrue();
            assertThatThrownBy(reader::next)
                    .isInstanceOf(DamagedFileException.class)
                    .hasMessageContaining("the record that ends in line 4 has 3 values, but there are 2 columns");
            assertThat(reader.skip()).isTrue();
            assertThat(reader.next()).isTrue();
            assertThat(reader.position()).isEqualTo(2);
        }
    }

    @Test
    void refusesOtherEncodings() {
        assertThatThrownBy(() -> FORMAT.open(
                        Rows.file("a.csv", "a,b\n1,ä\n".getBytes(StandardCharsets.ISO_8859_1)), ReadLimits.DEFAULT))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("byte 6 is not UTF-8")
                .hasMessageContaining("iconv");
        assertThatThrownBy(() -> FORMAT.open(
                        Rows.file("a.csv", "\ufeffa,b\n".getBytes(StandardCharsets.UTF_16LE)), ReadLimits.DEFAULT))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("UTF-16");
    }

    @Test
    void refusesQuotesThatAreNotClosedWithinTheLimit() {
        ReadLimits limits = new ReadLimits(1 << 20, 20_000, 32, 1000);
        assertThatThrownBy(() -> FORMAT.open(Rows.file("a.csv", "a,b\n\"" + "x,\n".repeat(100_000)), limits))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("check that its quotes are closed");
        assertThatThrownBy(() -> open("a,b\n\"x\"y,1\n"))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("a.csv: a CSV record is damaged: Invalid character between encapsulated token and"
                        + " delimiter at line: 2");
    }

    @Test
    void readsCharactersOutsideOfTheBasicPlane() throws Exception {
        String text = "😀".repeat(100_000);
        assertThat(Rows.nodes(open("a,b\nx" + text + ",1\n")).get(0).get(0).textValue())
                .isEqualTo("x" + text);
    }

    @Test
    void refusesColumnsThatWereNotGiven() throws Exception {
        Map<String, FieldType> types = Map.of("a", FieldType.parse("utf8"));
        assertThatThrownBy(() -> open("a,b\n1,2\n", new ColumnHints(List.of(), types, Set.of(), Others.REFUSE)))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("has the column 'b'");
        assertThat(Rows.read(open("a,b\n1,2\n", new ColumnHints(List.of(), types, Set.of(), Others.IGNORE))))
                .containsExactly("[\"1\"]");
    }

    @Test
    void laterFilesKeepTheTypesOfTheFirst() throws Exception {
        ColumnHints first = ColumnHints.types(Map.of("b", FieldType.parse("int64")));
        RowFile file = open("a,b\n1,007\n", first);
        assertThat(Rows.read(file)).containsExactly("[1,7]");
        ColumnHints later = first.fixed(file.schema().columns(), Others.REFUSE);
        assertThat(Rows.read(open("b,a\n008,009\n", later)))
                .containsExactly("[8,\"refused: '009' is not int64 as in the first rows; use --type a=utf8\"]");
        List<RowColumn> twice = open("a,a\nx,y\n").schema().columns();
        assertThatThrownBy(() -> ColumnHints.NONE.fixed(twice, Others.REFUSE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("there are two columns a; rename one of them");
    }
}

package dev.stoker.formats.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.ColumnHints.Others;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.Rows;
import dev.stoker.formats.input.Compression;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonLinesFormatTest {
    private static final JsonLinesFormat FORMAT = new JsonLinesFormat();

    private static RowFile open(String text, String... types) throws IOException {
        return FORMAT.open(Rows.file("a.jsonl", text), ReadLimits.DEFAULT, hints(Others.INFER, types));
    }

    private static ColumnHints hints(Others others, String... types) {
        Map<String, FieldType> map = new LinkedHashMap<>();
        for (int i = 0; i < types.length; i += 2) {
            map.put(types[i], FieldType.parse(types[i + 1]));
        }
        return new ColumnHints(List.of(), map, Set.of(), others);
    }

    private static String schema(RowFile file) {
        StringBuilder text = new StringBuilder();
        file.schema()
                .columns()
                .forEach(column -> text.append(column.name())
                        .append(':')
                        .append(column.type())
                        .append(' '));
        return text.toString().strip();
    }

    private static String onlyRefusal(String text) throws IOException {
        List<RowSchema.RefusedColumn> refused = open(text).schema().refused();
        assertThat(refused).hasSize(1);
        return refused.get(0).name() + ": " + refused.get(0).reason();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            value = {
                "{\"a\":1}\\n{\"a\":2.5}!a:float64",
                "{\"a\":null}\\n{\"a\":true}!a:bool",
                "{\"a\":[]}\\n{\"a\":[1]}\\n{\"a\":[1.5]}!a:float64[]",
                "{\"a\":[]}\\n{\"a\":[true,false]}!a:uint8[]",
                "{\"a\":[[]]}\\n{\"a\":[[1],[2,3]]}!a:int64[][]",
                "{\"a\":{\"b\":1}}\\n{\"b\":2}\\n{\"a\":null}!a.b:int64 b:int64",
                "{\"a\":[{\"x\":[1,2]},{\"x\":[]}]}!a.x:int64[][]",
                "{\"a\":[{\"p\":{\"q\":\"t\"}}]}!a.p.q:utf8[]"
            })
    void infersTypesFromTheFirstRows(String text, String expected) throws Exception {
        assertThat(schema(open(text.replace("\\n", "\n")))).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            value = {
                "{\"a\":1}\\n\\n{\"a\":\"x\"}!different types: integer in line 1, text in line 3; use --type a=utf8",
                "{\"a\":1}\\n{\"a\":[1]}!different types",
                "{\"a\":[1,true]}!different types: ",
                "{\"a\":[1,null]}!an item of its list in line 1 is null; use --type a=int64?[] to keep it, or",
                "{\"a\":[null]}!an item of its list in line 1 is null; use --type a=utf8",
                "{\"a\":[[1,null]]}!an item of its list in line 1 is null; use --type a=utf8",
                "{\"a\":null}!all its values are null in the first rows; give its type with --type a=…",
                "{\"a\":{}}!its objects have no keys",
                "{\"a\":[[\"x\"]]}!lists of lists of other values than numbers",
                "{\"a\":[[[1]]]}!lists of lists of lists",
                "{\"a\":12345678901234567890}!does not fit into int64; use --type a=uint64, --type a=float64, or",
                "{\"a\":[12345678901234567890]}!does not fit into int64; use --type a=uint64[], --type",
                "{\"a\":[[[12345678901234567890]]]}!does not fit into int64; use --type a=utf8"
            })
    void refusesColumnsByName(String text, String reason) throws Exception {
        assertThat(onlyRefusal(text.replace("\\n", "\n"))).startsWith("a: ").contains(reason);
    }

    @Test
    void keepsNullItemsOfListsThatMayHaveThem() throws Exception {
        String rows = "{\"a\":[1,null,-2],\"b\":[null,\"x\"],\"c\":[0.5,null]}\n{\"a\":[],\"b\":null,\"c\":[null]}\n"
                + "{\"a\":[3],\"b\":[\"\"],\"c\":[1]}";
        assertThat(Rows.read(open(rows, "a", "int32?[]", "b", "utf8?[]", "c", "float32?[]")))
                .containsExactly("[[1,null,-2],[null,\"x\"],[0.5,null]]", "[[],null,[null]]", "[[3],[\"\"],[1.0]]");
        assertThat(onlyRefusal("{\"a\":[{\"b\":1},null]}"))
                .isEqualTo("a.b: an item of its list in line 1 is null; use --type a.b=int64?[] to keep it, or"
                        + " --type a=utf8 to keep the JSON text");
        assertThat(Rows.read(open("{\"a\":[{\"b\":1},null]}", "a", "utf8")))
                .containsExactly("[\"[{\\\"b\\\":1},null]\"]");
        // A null object of a list is a null item of each key.
        assertThat(Rows.read(open(
                        "{\"a\":[{\"b\":1,\"c\":\"x\"},null]}\n{\"a\":[null]}\n{\"a\":null}\n",
                        "a.b",
                        "int64?[]",
                        "a.c",
                        "utf8?[]")))
                .containsExactly("[[1,null],[\"x\",null]]", "[[null],[null]]", "[null,null]");
        assertThat(Rows.read(open("{\"a\":[1]}\n{\"a\":[null]}", "a", "int64[]"))
                        .get(1))
                .contains("an item of the list is null; use --type a=int64?[]");
    }

    @Test
    void refusesListsWhoseObjectsDifferInTheirKeys() throws Exception {
        RowFile file = open("{\"a\":[{\"x\":1,\"y\":1},{\"x\":2}]}");
        assertThat(schema(file)).isEqualTo("a.x:int64[]");
        assertThat(file.schema().refused().get(0).name()).isEqualTo("a.y");
        assertThat(file.schema().refused().get(0).reason())
                .contains("some objects")
                .contains("--type a=utf8");
    }

    @Test
    void keepsTheJsonTextOfAColumnThatIsDeclaredAsText() throws Exception {
        RowFile file = open(
                "{\"a\": {\"x\": [1.10, \"é\"]}}\n{\"a\": 5}\n{\"a\": \"t\"}\n{\"a\": null}\n"
                        + "{\"a\": 1.50}\n{\"a\":true}",
                "a",
                "utf8");
        assertThat(Rows.nodes(file).stream().map(row -> row.get(0).textValue()))
                .containsExactly("{\"x\": [1.10, \"é\"]}", "5", "t", null, "1.50", "true");
    }

    @Test
    void readsDeclaredTypes() throws Exception {
        RowFile file = open(
                "{\"t\":[[1,2],[3,4]],\"u\":18446744073709551615,\"b\":[true,false],\"d\":\"2026-01-31\","
                        + "\"m\":\"1.10\",\"s\":\"2026-01-31T00:00:01.5+02:00\",\"h\":[1,2.5],\"e\":-5}",
                "t",
                "float32[2,2]",
                "u",
                "uint64",
                "b",
                "uint8[]",
                "d",
                "date",
                "m",
                "decimal(5,2)",
                "s",
                "timestamp[ms,UTC]",
                "h",
                "float16[]",
                "e",
                "timestamp[ms]");
        assertThat(Rows.read(file))
                .containsExactly(
                        "[[1.0,2.0,3.0,4.0],18446744073709551615,[1,0],20484,\"1.10\",1769810401500,[1.0,2.5],-5]");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            value = {
                "{\"a\":\"x\"}!the text 'x' is not int64; use --type a=utf8",
                "{\"a\":1.5}!the number '1.5' is not an int64",
                "{\"a\":[1]}!a list is not int64",
                "{\"a\":{\"b\":1}}!an object is not int64",
                "{\"a\":12345678901234567890}!'12345678901234567890' does not fit into int64"
            })
    void refusesLaterValuesOfAnotherTypeAlone(String row, String reason) throws Exception {
        String text = "{\"a\":1,\"b\":2}\n".repeat(10_000) + row + "\n{\"a\":3,\"b\":4}\n";
        List<JsonNode> rows = Rows.nodes(open(text));
        assertThat(rows).hasSize(10_002);
        assertThat(rows.get(10_000).get(0).textValue()).startsWith("refused: ").contains(reason);
        assertThat(rows.get(10_001).toString()).isEqualTo("[3,4]");
    }

    @Test
    void namesALaterKeyAndGoesOnBehindIt() throws Exception {
        String text = "{\"a\":1}\n".repeat(10_000) + "{\"a\":1,\"new\":null}\n{\"a\":1,\"new\":2}\n{\"a\":3}\n";
        RowFile file = open(text);
        try (RowReader reader = file.read(file.parts().get(0), new int[] {0})) {
            for (int i = 0; i <= 10_000; i++) {
                assertThat(reader.next()).isTrue();
            }
            assertThatThrownBy(reader::next)
                    .isInstanceOf(DamagedFileException.class)
                    .hasMessageContaining("a.jsonl: the line at offset 80019")
                    .hasMessageContaining("has the key new, which the first rows of the source do not have")
                    .hasMessageContaining("--type new=");
            assertThat(reader.skip()).isTrue();
            assertThat(reader.next()).isTrue();
            assertThat(Rows.row(file, reader, new int[] {0}).toString()).isEqualTo("[3]");
        }
    }

    @Test
    void leavesOutOtherColumnsWhenTheUserNamedTheWantedOnes() throws Exception {
        RowFile file = FORMAT.open(
                Rows.file("a.jsonl", "{\"a\":1,\"b\":{\"c\":[{}]},\"d\":[1,null]}\n{\"b\":1}\n"),
                ReadLimits.DEFAULT,
                hints(Others.IGNORE, "a", "int64", "e", "utf8"));
        assertThat(Rows.read(file)).containsExactly("[1,null]", "[null,null]");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            value = {
                "{\"a\":1,\"a\":2}!it has the key 'a' twice",
                "{\"a\":NaN}!NaN and Infinity are not JSON",
                "{\"a\":-Infinity}!NaN and Infinity are not JSON",
                "[1,2]!it is an array",
                "\"x\"!it is not an object",
                "{\"a\":1}{\"a\":2}!more than one value",
                "{\"a\":1!Unexpected end-of-input",
                "{\"a\":'x'}!Unexpected character"
            })
    void refusesLinesThatAreNotJson(String line, String reason) throws Exception {
        RowFile file = open("{\"a\":1}\n" + line + "\n{\"a\":2}");
        try (RowReader reader = file.read(file.parts().get(0), new int[] {0})) {
            assertThat(reader.next()).isTrue();
            assertThatThrownBy(reader::next)
                    .isInstanceOf(DamagedFileException.class)
                    .hasMessageStartingWith("a.jsonl: the line at offset 8 is damaged: ")
                    .hasMessageContaining(reason);
            assertThat(reader.skip()).isTrue();
            assertThat(reader.next()).isTrue();
            assertThat(reader.position()).isEqualTo(9 + line.length());
        }
    }

    @Test
    void refusesBytesThatAreNotUtf8AndHalfSurrogates() throws Exception {
        byte[] bytes = "{\"a\":\"x?\"}\n".getBytes(StandardCharsets.UTF_8);
        bytes[7] = (byte) 0xE4;
        assertThatThrownBy(() -> FORMAT.open(Rows.file("a.jsonl", bytes), ReadLimits.DEFAULT))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("byte 7 is not UTF-8");
        assertThat(Rows.read(open("{\"a\":\"\\ud83d\\ude00\"}\n{\"a\":\"\\ud83d\"}"))
                        .get(1))
                .contains("half of a surrogate pair, \\\\ud83d");
    }

    @Test
    void refusesLongLinesAndDeepNestingWithinTheLimits() {
        ReadLimits limits = new ReadLimits(1 << 20, 1000, 8, 1000);
        assertThatThrownBy(() -> FORMAT.open(Rows.file("a.jsonl", "{\"a\":\"" + "x".repeat(1000) + "\"}"), limits))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("the line at offset 0 is longer than 1000 bytes");
        assertThatThrownBy(() -> FORMAT.open(Rows.file("a.jsonl", "{\"a\":".repeat(100)), limits))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("too many levels");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 7, 8, 9, 10, 1000})
    void partsTogetherHaveEachRowOnceAtTheSamePosition(long partBytes) throws Exception {
        StringBuilder text = new StringBuilder("\ufeff{\"a\":0}\r\n\n");
        for (int i = 1; i < 50; i++) {
            text.append("{\"a\":").append(i).append(i % 3 == 0 ? "  }\r\n" : "}\n");
        }
        text.append("{\"a\":50}");
        var range = Rows.file("a.jsonl", text.toString());
        RowSchema schema = FORMAT.open(range, ReadLimits.DEFAULT).schema();
        RowFile whole = FORMAT.open(range, ReadLimits.DEFAULT);
        RowFile divided =
                new JsonLinesFile(range, ReadLimits.DEFAULT, Compression.NONE, schema, ColumnHints.NONE, partBytes);
        assertThat(positions(divided)).isEqualTo(positions(whole)).hasSize(51);
    }

    private static List<String> positions(RowFile file) throws Exception {
        List<String> rows = new ArrayList<>();
        for (RowPart part : file.parts()) {
            try (RowReader reader = file.read(part, new int[] {0})) {
                while (reader.next()) {
                    rows.add(reader.position() + " " + Rows.row(file, reader, new int[] {0}));
                }
            }
        }
        return rows;
    }

    @Test
    void readsTenThousandColumns() throws Exception {
        StringBuilder line = new StringBuilder("{");
        for (int i = 0; i < 10_000; i++) {
            line.append(i == 0 ? "" : ",")
                    .append("\"c.")
                    .append(i)
                    .append("\":")
                    .append(i);
        }
        RowFile file = open(line + "}\n" + line + "}\n");
        assertThat(file.schema().columns()).hasSize(10_000);
        assertThat(Rows.nodes(file).get(1).get(9_999).longValue()).isEqualTo(9_999);
    }

    @Test
    void readsBytesFromBase64() throws Exception {
        String rows = "{\"a\":\"AAE=\",\"b\":[\"\",\"_w\"],\"c\":[null,\"/w\"]}\n{\"a\":[1],\"b\":[],\"c\":null}";
        assertThat(Rows.read(open(rows, "a", "binary", "b", "binary[]", "c", "binary?[]")))
                .containsExactly(
                        "[{\"hex\":\"0001\"},\"refused: the text '_w' is not base64, as bytes in JSON are; use --type"
                                + " b=utf8 to keep the JSON text\",[null,{\"hex\":\"ff\"}]]",
                        "[\"refused: a list is not binary; use --type a=utf8 to keep the JSON text\",[],null]");
    }

    @Test
    void refusesIntegersThatTheFloatingPointNumbersOfAColumnCannotHold() throws Exception {
        assertThat(Rows.read(open("{\"a\":0.5}\n{\"a\":9007199254740993}\n{\"a\":1e999}"))
                        .toString())
                .contains("9007199254740993 is not exactly a float64")
                .contains("'1e999' is too large for a float64");
    }

    @Test
    void laterFilesKeepTheTypesOfTheFirst() throws Exception {
        ColumnHints first = hints(Others.INFER, "c", "utf8");
        RowFile file = FORMAT.open(Rows.file("a.jsonl", "{\"a\":1,\"b\":\"x\",\"c\":1}"), ReadLimits.DEFAULT, first);
        ColumnHints later = first.fixed(file.schema().columns(), Others.REFUSE);
        RowFile second =
                FORMAT.open(Rows.file("b.jsonl", "{\"c\":[2],\"b\":5}\n{\"a\":\"x\"}"), ReadLimits.DEFAULT, later);
        assertThat(Rows.columns(second)).isEqualTo(Rows.columns(file));
        assertThat(Rows.read(second).toString())
                .isEqualTo("[[null,\"refused: a number is not utf8; use --type b=utf8 to keep"
                        + " the JSON text\",\"[2]\"],"
                        + " [\"refused: the text 'x' is not int64; use --type a=utf8 to keep"
                        + " the JSON text\",null,null]]");
        RowFile third = FORMAT.open(Rows.file("c.jsonl", "{\"d\":1}"), ReadLimits.DEFAULT, later);
        assertThatThrownBy(() -> Rows.read(third))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("c.jsonl: the line at offset 0")
                .hasMessageContaining("has the key d, which the first rows of the source do not have");
    }
}

package dev.stoker.ingest.rows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.HintedFormat;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.csv.CsvFormat;
import dev.stoker.formats.json.JsonLinesFormat;
import dev.stoker.formats.partition.GivenColumn;
import dev.stoker.ingest.pack.FieldValue;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.arrow.ScalarType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkFixtures;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One value of text has one meaning in JSON lines, CSV, the name of a directory, and a file beside the sample. */
class ValueRulesTest {

    private enum Way {
        JSON_LINES {
            @Override
            void set(ChunkBuilder row, FieldSink sink, FieldType type, String text) throws Exception {
                String value = isJsonNumber(text) ? text : '"' + text + '"';
                hinted(new JsonLinesFormat(), type, "{\"x\":" + value + "}\n", sink);
            }
        },
        CSV {
            @Override
            void set(ChunkBuilder row, FieldSink sink, FieldType type, String text) throws Exception {
                hinted(new CsvFormat(), type, "x,y\n" + text + ",1\n", sink);
            }
        },
        DIRECTORY {
            @Override
            void set(ChunkBuilder row, FieldSink sink, FieldType type, String text) throws Exception {
                GivenColumn.ofDirectory("x", stored(type), text).give(sink.at(0));
            }
        },
        SIDECAR {
            @Override
            void set(ChunkBuilder row, FieldSink sink, FieldType type, String text) {
                FieldValue.set(row, 0, type.canonical(), ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
            }
        };

        abstract void set(ChunkBuilder row, FieldSink sink, FieldType type, String text) throws Exception;
    }

    private static boolean isJsonNumber(String text) {
        return text.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");
    }

    /** Formats read classes as text. */
    private static FieldType stored(FieldType type) {
        return type == ScalarType.CATEGORICAL ? ScalarType.UTF8 : type;
    }

    private static void hinted(HintedFormat format, FieldType type, String file, FieldSink sink)
            throws IOException, BadValueException {
        BufferRangeReader bytes =
                new BufferRangeReader("test-file", ByteBuffer.wrap(file.getBytes(StandardCharsets.UTF_8)));
        try (RowFile rows = format.open(bytes, ReadLimits.DEFAULT, ColumnHints.types(Map.of("x", stored(type))))) {
            for (RowPart part : rows.parts()) {
                try (RowReader reader = rows.read(part, new int[] {0})) {
                    assertThat(reader.next()).isTrue();
                    reader.get(0, sink.at(0));
                }
            }
        }
    }

    /** Returns the stored value as text, or the word refused. */
    private static String stored(Way way, FieldType type, String text) throws Exception {
        List<Field> fields = List.of(Field.nullable("x", type));
        ChunkBuilder row = new ChunkBuilder(fields, 4096);
        FieldSink sink = new FieldSink(fields);
        row.beginRow("k");
        sink.begin(row);
        try {
            way.set(row, sink, type, text);
        } catch (BadValueException | IllegalArgumentException e) {
            return "refused";
        }
        row.endRow();
        ByteBuffer file = ChunkFixtures.bytes(row.finish(ChunkFixtures.identity(1)));
        ChunkHead head = ChunkReader.open(new BufferRangeReader("chunk", file));
        ArrowColumn column = head.column(0);
        if (column.isNull(0)) {
            return "null";
        }
        ScalarType scalar = (ScalarType) type;
        return scalar.isFloat()
                ? Double.toString(column.doubleAt(0))
                : scalar.isInteger()
                        ? Long.toString(column.longAt(0))
                        : scalar == ScalarType.CATEGORICAL ? head.classes(0).get(0) : column.stringAt(0);
    }

    @ParameterizedTest
    @CsvSource({
        "float64, 1e400, refused",
        "float64, 1e300, 1.0E300",
        "float32, 1e300, refused",
        "float32, -1e39, refused",
        "float32, 0.1, 0.10000000149011612",
        "float64, 9007199254740992, 9.007199254740992E15",
        "float64, 9007199254740993, refused",
        "float32, 9007199254740993, refused",
        "float64, NaN, NaN",
        "float64, -Infinity, -Infinity",
        "float64, -0.0, -0.0",
        "float64, one, refused",
        "int32, 2147483648, refused",
        "int32, 1.5, refused",
        "int8, -129, refused",
        "utf8, 007, 007",
        "categorical, 007, 007",
        "int64, 007, 7"
    })
    void aValueIsTheSameOnEveryWay(String type, String text, String expected) throws Exception {
        for (Way way : Way.values()) {
            // JSON has no such numbers, and does not read text as a number.
            boolean isText =
                    way == Way.JSON_LINES && !isJsonNumber(text) && ((ScalarType) FieldType.parse(type)).isNumber();
            assertThat(stored(way, FieldType.parse(type), text)).as("%s", way).isEqualTo(isText ? "refused" : expected);
        }
    }
}

package dev.stoker.ingest.topic.value;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.avro.AvroFormat;
import dev.stoker.formats.convert.Conversion;
import dev.stoker.formats.convert.ConvertedFile;
import dev.stoker.formats.json.JsonLinesFormat;
import dev.stoker.formats.json.JsonRecords;
import dev.stoker.formats.json.JsonSchema;
import dev.stoker.ingest.rows.pack.FieldSink;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkFixtures;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.testing.ValueRules;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Values of JSON and Avro become the same in a file and in a topic. The rules are in docs/formats/conversion.md. A
 * cell with an exclamation mark is a part of the refusal.
 */
class SameRulesTest {

    /** Sets the only field of the open row. */
    private interface Giver {
        void give(ChunkBuilder row) throws Exception;
    }

    private static String stored(Field field, Giver giver) throws Exception {
        ChunkBuilder row = new ChunkBuilder(List.of(field), 4096);
        row.beginRow("k");
        try {
            giver.give(row);
        } catch (BadValueException | DamagedFileException | PoisonException e) {
            return "!" + e.getMessage();
        }
        row.endRow();
        ByteBuffer chunk = ChunkFixtures.bytes(row.finish(ChunkFixtures.identity(1)));
        return String.valueOf(
                ValueRules.stored(field.type(), ChunkReader.open(new BufferRangeReader("chunk", chunk)), 0));
    }

    private static String ofFile(Field field, RowFile file) throws Exception {
        return stored(field, row -> {
            FieldSink sink = new FieldSink(List.of(field), "fill it");
            sink.begin(row);
            int column = file.schema().columns().stream()
                    .map(RowColumn::name)
                    .toList()
                    .indexOf(field.name());
            try (RowReader reader = file.read(file.parts().get(0), new int[] {column})) {
                assertThat(reader.next()).isTrue();
                reader.get(0, sink.at(0));
            }
        });
    }

    private static String ofTopic(Field field, RecordFormat format, byte[] value) throws Exception {
        FieldValues values = new FieldValues(format, List.of(field), Set.of(0), new Properties());
        return stored(field, row -> values.set(ByteBuffer.wrap(value), row));
    }

    private static void assertSame(String expected, String file, String topic) {
        if (expected.startsWith("!")) {
            assertThat(file).startsWith("!").contains(expected.substring(1));
            assertThat(topic).startsWith("!").contains(expected.substring(1));
        } else {
            assertThat(file).isEqualTo(expected);
            assertThat(topic).isEqualTo(expected);
        }
    }

    private static RecordFormat format(RecordFormat.Kind kind, @Nullable String schema) {
        return new RecordFormat(kind, null, schema, RecordFormat.Wire.PLAIN, null);
    }

    private static BufferRangeReader file(byte[] bytes) {
        return new BufferRangeReader("test-file", ByteBuffer.wrap(bytes));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "x       | bool          | {'x':1}                       | true",
                "x       | int64         | {'x':1,'other':{'a':[1]}}     | 1",
                "x       | int64         | {'x':1.0}                     | !'1.0' is not an int64",
                "x       | int64         | {'x':'1'}                     | !the text '1' is not int64",
                "x       | int64         | {'x':9223372036854775808}     | !does not fit into int64",
                "x       | uint64        | {'x':18446744073709551615}    | 18446744073709551615",
                "x       | int8          | {'x':128}                     | !range of int8",
                "x       | float32       | {'x':16777217}                | !is not exactly a float32",
                "x       | float64       | {'x':NaN}                     | !NaN and Infinity are not JSON",
                "x       | float64       | {'x':1e400}                   | !too large for a float64",
                "x       | decimal(4,2)  | {'x':1.25}                    | 1.25",
                "x       | decimal(4,2)  | {'x':'12.5'}                  | 12.50",
                "x       | decimal(4,2)  | {'x':1.255}                   | !decimal(4,2)",
                "x       | date          | {'x':'1970-01-02'}            | 1",
                "x       | timestamp[ms] | {'x':5}                       | 5",
                "x       | timestamp[ms] | {'x':'1970-01-01T00:00:00.5'} | 500",
                "x       | timestamp[s]  | {'x':'1970-01-01T00:00:00.5'} | !finer than the unit s",
                "x       | timestamp[s]  | {'x':5.0}                     | !is not timestamp[s]",
                "x       | utf8          | {'x':'ä'}                     | ä",
                "x       | utf8          | {'x':1.50}                    | 1.50",
                "x       | utf8          | {'x':{'y':[1, null]}}         | {\"y\":[1, null]}",
                "x       | utf8          | {'x':'\\ud83d'}               | !half of a surrogate pair",
                "x       | categorical   | {'x':true}                    | true",
                "x       | binary        | {'x':'AAE='}                  | 0001",
                "x       | binary        | {'x':'a_b'}                   | !is not base64",
                "x       | binary        | {'x':[1]}                     | !a list is not binary",
                "x       | binary[]      | {'x':['AAE=','']}             | [0001, ]",
                "x       | binary?[]     | {'x':['/w==',null]}           | [ff, null]",
                "x       | utf8[]        | {'x':['a',1]}                 | !is not text",
                "x       | utf8[]        | {'x':['a',null]}              | !an item of the list is null",
                "x       | utf8?[]       | {'x':['a',null]}              | [a, null]",
                "x       | int32[]       | {'x':[1,null]}                | !an item of the list is null",
                "x       | int32?[]      | {'x':[1,null]}                | [1, null]",
                "x       | int32[]       | {'x':7}                       | !a number is not int32[]",
                "x       | uint8[]       | {'x':[true,false]}            | [1, 0]",
                "x       | int32[]       | {'x':[true]}                  | !a bool is not int32",
                "x       | int32[][]     | {'x':[[1],[]]}                | [[1], []]",
                "x       | int32[][]     | {'x':[[1],null]}              | !is null",
                "x       | int32[][]     | {'x':[1]}                     | !is not int32[][]",
                "x       | float32[2,2]  | {'x':[[1,2],[3,4]]}           | [1.0, 2.0, 3.0, 4.0]",
                "x       | float32[2,2]  | {'x':[1,2,3,4]}               | [1.0, 2.0, 3.0, 4.0]",
                "x       | float32[2,2]  | {'x':[[1,2,3],[4]]}           | !does not have the shape",
                "x       | int64         | {'x':null}                    | null",
                "x       | int64         | {}                            | null",
                "x.y     | int64         | {'x':{'y':5}}                 | 5",
                "x.y     | int64         | {'x.y':5}                     | 5",
                "x.y     | int64         | {'x':{'y':5},'x.y':6}         | !two values",
                "x.y     | int64         | {'x':null}                    | null",
                "x.y | int64 | {'x':7} | !is where the first rows have objects",
                "x.y     | int64[]       | {'x':[{'y':1},{'y':2}]}       | [1, 2]",
                "x.y     | int64[]       | {'x':[]}                      | []",
                "x.y | int64[] | {'x':[{'y':1},{}]} | !object 2 of the list does not have it",
                "x.y     | int64?[]      | {'x':[{'y':1},null]}          | [1, null]",
                "x       | int64         | {'x':1,'y':2,'y':3}           | ! twice",
                "x       | int64         | {'x':1} {}                    | !there is more than one value",
                "x       | int64         | [{'x':1}]                     | !it is an array",
                "x       | int64         | 7                             | !it is not an object",
                "x       | int64         | {'x':1,}                      | !Unexpected character",
                "x       | int64         | \ufeff{'x':1}                 | 1",
            })
    void json(String name, String type, String record, String expected) throws Exception {
        Field field = Field.nullable(name, FieldType.parse(type));
        byte[] value = record.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
        ColumnHints hints = new ColumnHints(List.of(), Map.of(name, field.type()), Set.of(), ColumnHints.Others.IGNORE);
        String file;
        try (RowFile rows = new JsonLinesFormat().open(file(value), ReadLimits.DEFAULT, hints)) {
            file = ofFile(field, rows);
        }
        assertSame(expected, file, ofTopic(field, format(RecordFormat.Kind.JSON, null), value));
    }

    @Test
    void jsonOfManyLevels() throws Exception {
        Field field = Field.nullable("x", FieldType.parse("utf8"));
        byte[] value = ("{\"x\":" + "[".repeat(40) + "]".repeat(40) + "}").getBytes(StandardCharsets.UTF_8);
        try (RowFile rows = new JsonLinesFormat()
                .open(
                        file(value),
                        ReadLimits.DEFAULT,
                        ColumnHints.types(Map.of("x", field.type()))
                                .fixed(List.of(RowColumn.absent("x", field.type())), ColumnHints.Others.IGNORE))) {
            assertSame(
                    "!too many levels of lists and objects",
                    ofFile(field, rows),
                    ofTopic(field, format(RecordFormat.Kind.JSON, null), value));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'a':true,'b':1,'c':1.5,'d':'x'}                     | a:bool b:int64 c:float64 d:utf8",
                "{'a':[1],'b':[1,0.5],'c':['x'],'d':[true]} | a:int64[] b:float64[] c:utf8[] d:uint8[]",
                "{'a':[[1],[]],'b':{'c':1,'d':{'e':'x'}}}             | a:int64[][] b.c:int64 b.d.e:utf8",
                "{'a':[{'x':1,'y':['t']},{'x':2,'y':[]}]}             | a.x:int64[]",
                "{'a':[{'x':[1]},{'x':[]}]}                           | a.x:int64[][]",
                "{'a':12345678901234567890,'b':1}                     | b:int64",
                "{'a':[1,null],'b':[null],'c':[[['x']]],'d':1}        | d:int64",
                "{'a':null,'b':[],'c':{},'d':1}                       | d:int64",
                "{'a':[1,'x'],'b':[{'x':1},2],'c':[{'x':1},{}],'d':1} | d:int64",
                "{'a':{'b':1},'a.b':2,'c':1}                          | c:int64",
            })
    void columnsOfJson(String record, String expected) throws Exception {
        byte[] value = record.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
        List<String> refused = new ArrayList<>();
        String file;
        try (RowFile rows = new JsonLinesFormat().open(file(value), ReadLimits.DEFAULT, ColumnHints.NONE)) {
            file = shown(rows.schema().columns());
            rows.schema().refused().forEach(column -> refused.add(column.name()));
        }
        assertThat(file).isEqualTo(expected);
        JsonSchema schema = JsonRecords.infer(List.of(ByteBuffer.wrap(value)), index -> "the record");
        assertThat(shown(schema.columns())).isEqualTo(expected);
        assertThat(schema.refused()).extracting(JsonSchema.Refused::name).isEqualTo(refused);
    }

    private static String shown(List<RowColumn> columns) {
        return String.join(
                " ",
                columns.stream()
                        .map(column -> column.name() + ":" + column.type())
                        .toList());
    }

    private static final String ENUM = "{'type':'enum','name':'E','symbols':['a','b']}";
    private static final String RECORD = "{'type':'record','name':'P','fields':[{'name':'y','type':'int'}]}";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "x   | bool              | 'boolean'              | true        | true",
                "x   | categorical       | 'boolean'              | true        | true",
                "x   | bool              | 'int'                  | 2           | !2",
                "x   | int8              | 'int'                  | 128         | !128",
                "x   | int64             | 'int'                  | 5           | 5",
                "x   | float32           | 'int'                  | 16777217    | !is not exactly a float32",
                "x   | float32           | 'double'               | 0.1         | 0.10000000149011612",
                "x   | float32           | 'double'               | 1e300       | !float32",
                "x   | int64             | 'double'               | 1.0         | !float64",
                "x   | utf8              | 'string'               | 'ä'         | ä",
                "x   | binary            | 'string'               | 'ab'        | 6162",
                "x   | utf8              | 'bytes'                | 'ab'        | ab",
                "x   | date              | 'string'               | '1970-01-02'| 1",
                "x   | timestamp[s]      | 'long'                 | 5           | 5",
                "x   | decimal(4,2)      | 'long'                 | 5           | 5.00",
                "x   | utf8              | ENUM                   | 'b'         | b",
                "x   | categorical       | ENUM                   | 'b'         | b",
                "x   | binary            | 'bytes'                | 'a'         | 61",
                "x | utf8 | {'type':'fixed','name':'U','size':16,'logicalType':'uuid'} | 'aaaaaaaaaaaaaaaa' "
                        + "| 61616161-6161-6161-6161-616161616161",
                "x   | timestamp[us,UTC] | {'type':'long','logicalType':'timestamp-millis'} | 5 | 5000",
                "x   | timestamp[s,UTC]  | {'type':'long','logicalType':'timestamp-millis'} | 5 | !fraction",
                "x | decimal(6,3) | {'type':'bytes','logicalType':'decimal','precision':4,'scale':2} | 'a' | 0.970",
                "x | int32[] | {'type':'array','items':'int'} | [1,2] | [1, 2]",
                "x | int64[2] | {'type':'array','items':'int'} | [1,2] | [1, 2]",
                "x | int64[3] | {'type':'array','items':'int'} | [1,2] | !3",
                "x | int16[] | {'type':'array','items':'int'} | [40000] | !int16",
                "x | uint8[] | {'type':'array','items':'boolean'} | [true,false] | [1, 0]",
                "x | utf8[] | {'type':'array','items':ENUM} | ['a','b'] | [a, b]",
                "x | int32?[] | {'type':'array','items':['null','int']} | [{'int':1},null] | [1, null]",
                "x | int32[] | {'type':'array','items':['null','int']} | [{'int':1},null] | !is null",
                "x | int32[] | {'type':'array','items':['null','int']} | [{'int':1}] | [1]",
                "x | float64[] | {'type':'array','items':'null'} | [] | []",
                "x | int32[][] | {'type':'array','items':{'type':'array','items':'int'}} | [[1],[]] | [[1], []]",
                "x.y | int32             | RECORD                 | {'y':5}     | 5",
                "x.y | int32             | ['null',RECORD]        | null        | null",
                "x.y | int32[] | {'type':'array','items':RECORD} | [{'y':5},{'y':6}] | [5, 6]",
                "x.key | utf8[] | {'type':'map','values':'int'} | {'a':1} | [a]",
                "x.value | int32[] | {'type':'map','values':'int'} | {'a':1} | [1]",
                "x   | int32             | ['int']                | {'int':5}   | 5",
                "x   | int64             | ['null','long']        | null        | null",
            })
    void avro(String name, String type, String own, String value, String expected) throws Exception {
        Field field = Field.nullable(name, FieldType.parse(type));
        Schema schema = schema(own);
        GenericRecord datum = new GenericDatumReader<GenericRecord>(schema)
                .read(null, DecoderFactory.get().jsonDecoder(schema, ("{'x':" + value + "}").replace('\'', '"')));
        String file;
        try (RowFile rows = ConvertedFile.of(
                new AvroFormat().open(file(container(schema, datum)), ReadLimits.DEFAULT),
                Map.of(name, field.type()))) {
            file = misfit(field, rows);
            file = file.isEmpty() ? ofFile(field, rows) : file;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
        new GenericDatumWriter<GenericRecord>(schema).write(datum, encoder);
        encoder.flush();
        assertSame(
                expected, file, ofTopic(field, format(RecordFormat.Kind.AVRO, schema.toString()), out.toByteArray()));
    }

    private static String misfit(Field field, RowFile rows) {
        return rows.schema().columns().stream()
                .filter(column -> column.name().equals(field.name()))
                .filter(column -> Conversion.of(column.type(), field.type()) == Conversion.IMPOSSIBLE)
                .map(column -> "!" + column.type())
                .findFirst()
                .orElse("");
    }

    private static Schema schema(String own) {
        String text = own.replace("ENUM", ENUM).replace("RECORD", RECORD);
        return new Schema.Parser()
                .parse(("{'type':'record','name':'R','fields':[{'name':'x','type':" + text + "}]}").replace('\'', '"'));
    }

    private static byte[] container(Schema schema, @Nullable GenericRecord datum) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataFileWriter<GenericRecord> writer = new DataFileWriter<>(new GenericDatumWriter<>(schema))) {
            writer.create(schema, bytes);
            if (datum != null) {
                writer.append(datum);
            }
        }
        return bytes.toByteArray();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "'boolean'                                                                | x:bool",
                "['null','double']                                                        | x:float64?",
                "['string']                                                               | x:utf8",
                "ENUM                                                                     | x:categorical",
                "{'type':'fixed','name':'F','size':3}                                     | x:binary",
                "{'type':'fixed','name':'U','size':16,'logicalType':'uuid'}               | x:utf8",
                "{'type':'fixed','name':'D','size':12,'logicalType':'duration'}           | ``",
                "{'type':'bytes','logicalType':'big-decimal'}                             | ``",
                "{'type':'bytes','logicalType':'decimal','precision':50,'scale':2}        | ``",
                "{'type':'int','logicalType':'date'}                                      | x:date",
                "{'type':'long','logicalType':'timestamp-nanos'} | x:timestamp[ns,UTC]",
                "{'type':'array','items':'boolean'}                                       | x:uint8[]",
                "{'type':'array','items':{'type':'int','logicalType':'date'}}             | ``",
                "{'type':'array','items':{'type':'array','items':'string'}}               | ``",
                "{'type':'map','values':'int'} | x.key:utf8[] x.value:int32[]",
                "RECORD                                                                   | x.y:int32",
                "['null',RECORD]                                                          | x.y:int32?",
                "{'type':'array','items':RECORD}                                          | x.y:int32[]",
                "['int','string']                                                         | ``",
                "'null'                                                                   | ``",
                "{'type':'array','items':'null'}                                          | ``",
            })
    void columnsOfAvro(String own, String expected) throws Exception {
        Schema schema = schema(own);
        try (RowFile rows = new AvroFormat().open(file(container(schema, null)), ReadLimits.DEFAULT)) {
            assertThat(withNulls(rows.schema().columns())).isEqualTo(expected);
        }
        assertThat(withNulls(AvroFields.records(schema).schema().columns())).isEqualTo(expected);
    }

    private static String withNulls(List<RowColumn> columns) {
        return String.join(
                " ",
                columns.stream()
                        .map(column -> column.name() + ":" + column.type() + (column.nullable() ? "?" : ""))
                        .toList());
    }
}

package dev.stoker.ingest.topic.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.avro.AvroRecords;
import dev.stoker.ingest.rows.read.SizeSink;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkFixtures;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;

/** Values of another schema than the wanted one. */
class AvroResolutionTest {
    private static final Schema WRITTEN =
            schema("{'name':'more','type':'string'},{'name':'old','type':'string'},{'name':'n','type':'int'}");
    private static final Schema WANTED = schema("{'name':'n','type':'long'},"
            + "{'name':'text','type':'string','aliases':['old']},{'name':'kind','type':'string','default':'photo'}");

    private static Schema schema(String fields) {
        return new Schema.Parser().parse(("{'type':'record','name':'R','fields':[" + fields + "]}").replace('\'', '"'));
    }

    private static byte[] encoded(GenericRecord record) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
        new GenericDatumWriter<GenericRecord>(record.getSchema()).write(record, encoder);
        encoder.flush();
        return out.toByteArray();
    }

    private static byte[] written(String text) throws IOException {
        GenericRecord record = new GenericData.Record(WRITTEN);
        record.put("more", "left out");
        record.put("old", text);
        record.put("n", 7);
        return encoded(record);
    }

    /** Returns the bytes of the text that the record has. */
    private static long textBytes(AvroRecords records) throws Exception {
        SizeSink sink = new SizeSink().begin();
        records.get(0, sink);
        return sink.bytes();
    }

    @Test
    void fieldsAreFoundByAliasesAndDefaultsAreFilledIn() throws Exception {
        AvroRecords records = AvroFields.records(WANTED);
        records.select(new int[] {1, 2});
        AvroResolution resolution = new AvroResolution(WRITTEN, WANTED);
        for (String text : List.of("a long text", "", "x")) {
            byte[] value = written(text);
            assertThat(resolution.read(value, 0, value.length, records)).isFalse();
            assertThat(textBytes(records)).isEqualTo(text.length());
            SizeSink kind = new SizeSink().begin();
            records.get(1, kind);
            assertThat(kind.bytes()).isEqualTo("photo".length());
        }
    }

    @Test
    void aValueThatIsNoneIsRefusedAndTheNextOneIsRead() throws Exception {
        AvroRecords records = AvroFields.records(WANTED);
        records.select(new int[] {1});
        AvroResolution resolution = new AvroResolution(WRITTEN, WANTED);
        byte[] value = written("x");
        assertThatThrownBy(() -> resolution.read(value, 0, value.length - 1, records))
                .isInstanceOf(IOException.class);
        byte[] longer = ByteBuffer.allocate(value.length + 1).put(value).array();
        assertThat(resolution.read(longer, 0, longer.length, records)).isTrue();
        assertThat(resolution.read(value, 0, value.length, records)).isFalse();
        assertThat(textBytes(records)).isEqualTo(1);
    }

    @Test
    void fieldsThatContainThemselvesAreLeftOut() throws Exception {
        Schema tree = schema("{'name':'n','type':'long'},{'name':'next','type':['null','R']},"
                + "{'name':'all','type':{'type':'array','items':'R'}}");
        List<String> notes = new ArrayList<>();
        List<Field> fields = AvroFields.of(tree, notes);
        assertThat(fields).extracting(Field::name).containsExactly("n");
        assertThat(notes)
                .containsExactly(
                        "the Avro field next is ignored: it contains itself",
                        "the Avro field all is ignored: it contains itself");
        GenericRecord leaf = new GenericData.Record(tree);
        leaf.put("n", 1L);
        leaf.put("all", List.of());
        GenericRecord root = new GenericData.Record(tree);
        root.put("n", 1234567L);
        root.put("next", leaf);
        root.put("all", List.of(leaf, leaf));
        RecordFormat format =
                new RecordFormat(RecordFormat.Kind.AVRO, null, tree.toString(), RecordFormat.Wire.PLAIN, null);
        FieldValues values = new FieldValues(format, fields, List.of(0), new Properties());
        ChunkBuilder builder = new ChunkBuilder(fields, 4096);
        builder.beginRow("k");
        values.set(ByteBuffer.wrap(encoded(root)), builder);
        builder.endRow();
        ByteBuffer chunk = ChunkFixtures.bytes(builder.finish(ChunkFixtures.identity(1)));
        assertThat(ChunkReader.open(new BufferRangeReader("chunk", chunk))
                        .column(0)
                        .longAt(0))
                .isEqualTo(1234567L);
    }
}

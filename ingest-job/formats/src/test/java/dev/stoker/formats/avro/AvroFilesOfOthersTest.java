package dev.stoker.formats.avro;

import static dev.stoker.formats.ColumnarAssertions.assertReads;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.FileAttack;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.ReadRows;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.TextSink;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that {@code avro.py} wrote with fastavro, and files of Avro's own library. */
class AvroFilesOfOthersTest {
    private final AvroFormat format = new AvroFormat();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "scalars-null",
                "scalars-deflate",
                "scalars-snappy",
                "scalars-zstandard",
                "scalars-bzip2",
                "scalars-xz",
                "nested",
                "null-lists",
                "unions",
                "empty",
                "blocks",
                "small"
            })
    void readsTheValues(String file) throws Exception {
        assertReads(format, "avro/" + file + ".avro", "avro/" + file + ".avro");
    }

    @Test
    void refusesAnUnknownCodecByName() throws Exception {
        byte[] file = ReadRows.resource("avro/lz4.avro");
        assertThatThrownBy(() -> ReadRows.of(format, file, ReadLimits.DEFAULT))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("test-file has compression 'lz4'");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 7, 16, 100, 333, 1_000_000})
    void hasTheSameRowsHoweverItIsDivided(long partBytes) throws Exception {
        byte[] file = ReadRows.resource("avro/blocks.avro");
        ReadRows whole = ReadRows.of(format, file, ReadLimits.DEFAULT);
        ReadRows divided = ReadRows.of(new AvroFormat(partBytes), file, ReadLimits.DEFAULT);
        assertThat(divided.rows()).isEqualTo(whole.rows());
        assertThat(positions(file, partBytes))
                .isEqualTo(positions(file, 1 << 20))
                .doesNotHaveDuplicates();
    }

    private static List<Long> positions(byte[] file, long partBytes) throws Exception {
        List<Long> positions = new ArrayList<>();
        try (RowFile open =
                new AvroFormat(partBytes).open(new BufferRangeReader("x", ByteBuffer.wrap(file)), ReadLimits.DEFAULT)) {
            for (RowPart part : open.parts()) {
                try (RowReader reader = open.read(part, new int[0])) {
                    while (reader.next()) {
                        positions.add(reader.position());
                    }
                }
            }
        }
        return positions;
    }

    @Test
    void readsSomeColumnsOfALargeFileOfAvrosLibrary() throws Exception {
        Schema schema = SchemaBuilder.record("R")
                .fields()
                .requiredLong("id")
                .requiredString("text")
                .requiredDouble("d")
                .endRecord();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataFileWriter<GenericRecord> writer = new DataFileWriter<>(new GenericDatumWriter<>(schema))) {
            writer.setCodec(CodecFactory.deflateCodec(1));
            writer.create(schema, bytes);
            for (long i = 0; i < 50_000; i++) {
                GenericRecord row = new GenericData.Record(schema);
                row.put("id", i);
                row.put("text", "text " + i);
                row.put("d", i / 2.0);
                writer.append(row);
            }
        }
        long expected = 0;
        try (RowFile file = new AvroFormat(100_000)
                .open(new BufferRangeReader("x", ByteBuffer.wrap(bytes.toByteArray())), ReadLimits.DEFAULT)) {
            for (RowPart part : file.parts()) {
                try (RowReader reader = file.read(part, new int[] {2, 0})) {
                    TextSink sink = new TextSink();
                    while (reader.next()) {
                        reader.get(1, sink);
                        assertThat(sink.text()).isEqualTo(Long.toString(expected));
                        reader.get(0, sink);
                        assertThat(sink.text())
                                .isEqualTo(String.format("%016x", Double.doubleToRawLongBits(expected / 2.0)));
                        expected++;
                    }
                }
            }
        }
        assertThat(expected).isEqualTo(50_000);
    }

    @Test
    void refusesABlockThatIsLargerThanTheMemoryWhenDecompressed() throws Exception {
        Schema schema = SchemaBuilder.record("R").fields().requiredBytes("b").endRecord();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataFileWriter<GenericRecord> writer = new DataFileWriter<>(new GenericDatumWriter<>(schema))) {
            writer.setCodec(CodecFactory.deflateCodec(9));
            writer.create(schema, bytes);
            GenericRecord row = new GenericData.Record(schema);
            row.put("b", ByteBuffer.allocate(40 << 20));
            writer.append(row);
        }
        assertThat(bytes.size()).isLessThan(100_000);
        assertThatThrownBy(() -> ReadRows.of(format, bytes.toByteArray(), FileAttack.LIMITS))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("needs more than 16777216 bytes of memory, which is the limit; write the file"
                        + " with smaller blocks");
    }

    @Test
    void refusesRecordsThatContainThemselves() throws Exception {
        Schema schema = new Schema.Parser()
                .parse("{\"type\":\"record\",\"name\":\"R\",\"fields\":["
                        + "{\"name\":\"next\",\"type\":[\"null\",\"R\"]}]}");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new DataFileWriter<GenericRecord>(new GenericDatumWriter<>(schema))
                .create(schema, bytes)
                .close();
        assertThatThrownBy(() -> ReadRows.of(format, bytes.toByteArray(), ReadLimits.DEFAULT))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("test-file has a record 'R' that contains itself");
    }

    @ParameterizedTest
    @ValueSource(strings = {"small", "empty"})
    void survivesEveryTruncationAndFlippedBit(String name) throws Exception {
        FileAttack.truncate(format, ReadRows.resource("avro/" + name + ".avro"));
        FileAttack.flip(format, ReadRows.resource("avro/" + name + ".avro"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "scalars-null",
                "scalars-deflate",
                "scalars-snappy",
                "scalars-zstandard",
                "scalars-bzip2",
                "scalars-xz",
                "nested",
                "blocks"
            })
    void survivesRandomDamage(String name, TestInfo test) throws Exception {
        FileAttack.scramble(format, ReadRows.resource("avro/" + name + ".avro"), test);
    }
}

package dev.stoker.ingest;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Follows the advice about memory: the limit that a message recommends is enough. */
class MemoryAdviceTest extends AdvisedIngest {
    private void assertHelps(String limit, String... more) throws IOException {
        String[] given = new String[more.length + 2];
        given[0] = "--part-memory";
        given[1] = limit;
        System.arraycopy(more, 0, given, 2, more.length);
        source.assertHelps("--part-memory", given);
    }

    @ParameterizedTest
    @CsvSource({
        "parquet/int96.parquet, 1kb",
        "parquet/bomb.parquet, 8kb",
        "arrow/small-lz4.arrow, 1kb",
        "arrow/bomb-zstd.arrow, 8kb",
        "arrow/periodic-lz4.arrow, 8kb",
        "avro/small.avro, 100b"
    })
    void ofTheHeadAndAPartOfAFile(String file, String limit) throws IOException {
        source.golden("columnar/" + file, file.replace("/", ""));
        assertHelps(limit);
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "deflate", "snappy", "zstandard"})
    void ofABlockOfAvro(String codec) throws IOException {
        Schema schema = SchemaBuilder.record("R").fields().requiredBytes("b").endRecord();
        Files.createDirectories(source.path());
        try (DataFileWriter<GenericRecord> writer = new DataFileWriter<>(new GenericDatumWriter<>(schema))) {
            writer.setCodec(CodecFactory.fromString(codec));
            writer.create(schema, source.path("a.avro").toFile());
            GenericRecord row = new GenericData.Record(schema);
            row.put("b", ByteBuffer.allocate(300_000));
            writer.append(row);
        }
        assertHelps("64kb");
    }

    @Test
    void ofAFileThatAColumnNames() throws IOException {
        source.file("big.bin", new byte[1 << 20]);
        source.file("table.csv", "path\nbig.bin\n");
        source.assertHelps(
                source.path("table.csv"), "--part-memory", "", "", "--read", "path=image", "--part-memory", "8kb");
    }
}

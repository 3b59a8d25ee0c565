package dev.stoker.schemas.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.chunk.GoldenChunks;
import dev.stoker.schemas.crc.Crc32cs;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecordValueTest {
    private final RecordValue values = new RecordValue(GoldenChunks.fields("chunk-1a"));

    RecordValueTest() throws IOException {}

    @ParameterizedTest
    @CsvSource({"all, true", "none, false"})
    void makesTheGoldenBytesAndArrowReadsThem(String name, boolean hasRows) throws IOException {
        byte[] message = Golden.read("batch-1-" + name + ".bin");
        byte[] value = values.around(new ByteBuffer[] {ByteBuffer.wrap(message)}, message.length);
        Golden.check("kafka-1-" + name + ".bin", value);
        assertThat(values.crc(Crc32cs.of(message), message.length)).isEqualTo(Crc32cs.of(value));
        assertThat(value.length).isEqualTo(message.length + values.overheadBytes());
        try (RootAllocator allocator = new RootAllocator();
                ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(value), allocator)) {
            assertThat(reader.loadNextBatch()).isTrue();
            assertThat(reader.getVectorSchemaRoot().getRowCount() > 0).isEqualTo(hasRows);
            assertThat(reader.loadNextBatch()).isFalse();
        }
    }

    @Test
    void findsTheFirstKey() throws IOException {
        byte[] message = Golden.read("batch-1-all.bin");
        String key = RecordValue.firstKey(new ByteBuffer[] {ByteBuffer.wrap(message)});
        byte[] value = values.around(new ByteBuffer[] {ByteBuffer.wrap(message)}, message.length);
        try (RootAllocator allocator = new RootAllocator();
                ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(value), allocator)) {
            reader.loadNextBatch();
            assertThat(key)
                    .isEqualTo(reader.getVectorSchemaRoot()
                            .getVector("key")
                            .getObject(0)
                            .toString());
        }
    }
}

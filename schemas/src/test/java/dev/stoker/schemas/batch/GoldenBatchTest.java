package dev.stoker.schemas.batch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.chunk.GoldenChunks;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.crc.Crc32cs;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Batch messages never change. */
class GoldenBatchTest {
    @ParameterizedTest
    @ValueSource(strings = {"all", "one", "none"})
    void buildsTheGoldenBytes(String name) throws IOException {
        JsonNode json = GoldenChunks.json("batch-1.json");
        List<String> classes = new ArrayList<>();
        json.get("classes").get("categorical").forEach(c -> classes.add(c.asText()));
        PackedChunk[] packed = {GoldenChunks.build("chunk-1a"), GoldenChunks.build("chunk-1b")};
        BatchBuilder builder = new BatchBuilder(GoldenChunks.fields("chunk-1a"));
        BatchChunk[] chunks = {
            BatchFixtures.open(builder, packed[0], classes), BatchFixtures.open(builder, packed[1], classes)
        };
        JsonNode rows = json.get("batches").get(name);
        int[] chunkOf = new int[rows.size()];
        int[] rowOf = new int[rows.size()];
        for (int i = 0; i < rows.size(); i++) {
            chunkOf[i] = rows.get(i).get(0).asInt();
            rowOf[i] = rows.get(i).get(1).asInt();
        }
        BatchMessage message = builder.build(chunks, chunkOf, rowOf, 0, rows.size(), BatchFixtures::scratch);
        byte[] bytes = BatchFixtures.bytes(message);
        Golden.check("batch-1-" + name + ".bin", bytes);
        assertThat(message.crc32c()).isEqualTo(Crc32cs.of(bytes));
        assertThat(message.length()).isEqualTo(bytes.length);
    }
}

package dev.stoker.schemas.chunk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Chunks of format 1 never change. */
class GoldenChunkTest {
    @ParameterizedTest
    @ValueSource(strings = {"chunk-1a", "chunk-1b", "overlay-1"})
    void writesTheGoldenBytes(String name) throws IOException {
        Golden.check(
                name + ".arrow", ChunkFixtures.bytes(GoldenChunks.build(name)).array());
    }

    @ParameterizedTest
    @ValueSource(strings = {"chunk-1a", "chunk-1b"})
    void readsTheGoldenBytes(String name) throws IOException {
        PackedChunk built = GoldenChunks.build(name);
        ByteBuffer file = ByteBuffer.wrap(GoldenChunks.file(name + ".arrow"));
        assertThat(ChunkReader.verify(new BufferRangeReader(name, file))).isEqualTo(built.summary());
        ChunkHead head = ChunkReader.readHead(new BufferRangeReader(name, file), built.summary());
        int field = head.fields().stream().map(f -> f.name()).toList().indexOf("categorical");
        assertThat(head.classes(field)).isEqualTo(built.classes().get("categorical"));
        assertThat(head.key(1)).isEqualTo(name.endsWith("a") ? "Ordner/ä b.jpg" : "b1");
    }
}

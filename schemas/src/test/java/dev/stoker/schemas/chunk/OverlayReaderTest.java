package dev.stoker.schemas.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OverlayReaderTest {
    private static final PackedChunk CHUNK = GoldenChunks.build("chunk-1a");
    private static final PackedChunk OVERLAY = GoldenChunks.build("overlay-1");

    private static RangeReader file(String name, byte... content) {
        return new BufferRangeReader(name, ByteBuffer.wrap(content));
    }

    private static ChunkOverlay reference(PackedChunk overlay) {
        return new ChunkOverlay(
                overlay.summary().id(),
                overlay.summary().length(),
                overlay.summary().crc32c());
    }

    private static byte[] golden(String name) throws IOException {
        return Golden.read(name + ".arrow");
    }

    private static ChunkHead read(byte[] overlay, ChunkOverlay expected) throws IOException {
        return OverlayReader.readHead(
                file("chunk", golden("chunk-1a")), CHUNK.summary().with(expected), id -> file("overlay", overlay));
    }

    private static int field(ChunkHead head, String name) {
        return head.fields().stream().map(Field::name).toList().indexOf(name);
    }

    @Test
    void aChunkHasTheValuesOfItsOverlayAndItsOwnOnesOtherwise() throws IOException {
        ChunkHead own = ChunkReader.readHead(file("chunk", golden("chunk-1a")), CHUNK.summary());

        ChunkHead head = read(golden("overlay-1"), reference(OVERLAY));

        int category = field(head, "categorical");
        assertThat(head.classes(category)).containsExactly("new class", "only a", "cat", "dog \"x\"", "tab\there");
        assertThat(head.classes(category).get(head.column(category).intAt(3))).isEqualTo("dog \"x\"");
        int number = field(head, "int16.maybe");
        assertThat(head.column(number).isNull(1)).isTrue();
        assertThat(head.column(number).bytesAt(0)).isEqualTo(own.column(number).bytesAt(1));
        int other = field(head, "int64");
        assertThat(head.column(other).longAt(2)).isEqualTo(own.column(other).longAt(2));
        int payload = field(head, "data");
        assertThat(head.payloadPosition(payload, 4)).isEqualTo(own.payloadPosition(payload, 4));
        assertThat(head.payloadCrc32c(payload, 4)).isEqualTo(own.payloadCrc32c(payload, 4));
        assertThat(head.identity()).isEqualTo(own.identity());
        assertThat(head.fields()).isEqualTo(own.fields());
        int texts = field(head, "utf8_list.maybe");
        assertThat(head.rowBytes(2) - own.rowBytes(2))
                .isEqualTo(RowSize.of(
                                head.fields().get(texts).type(),
                                true,
                                head.column(texts).storedLength(2))
                        - RowSize.of(
                                own.fields().get(texts).type(),
                                true,
                                own.column(texts).storedLength(2)));
    }

    @Test
    void readersThatDoNotApplyAnOverlayRefuseTheChunk() throws IOException {
        ChunkSummary chunk = CHUNK.summary().with(reference(OVERLAY));
        RangeReader file = file("chunk", golden("chunk-1a"));

        assertThatThrownBy(() -> ChunkReader.readHead(file, chunk))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has the overlay 0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4abc, but the reader does not");
        assertThatThrownBy(() -> ChunkReader.headIn(ByteBuffer.wrap(golden("chunk-1a")), chunk, "chunk"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ColumnReader.open(file, chunk)).isInstanceOf(IllegalArgumentException.class);
        assertThat(ChunkReader.readKeys(file, chunk).stringAt(2)).isEqualTo("c");
    }

    @Test
    void damageOfAnyByteIsFound() throws IOException {
        byte[] intact = golden("overlay-1");
        for (int at = 0; at < intact.length; at++) {
            byte[] damaged = intact.clone();
            damaged[at] ^= 4;
            assertThatThrownBy(() -> read(damaged, reference(OVERLAY)))
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining("overlay");
        }
        for (int length : new int[] {0, 1, 100, intact.length - 1}) {
            assertThatThrownBy(() -> read(Arrays.copyOf(intact, length), reference(OVERLAY)))
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining("file length");
        }
    }

    @Test
    void aChunkIsNoOverlayAndAnOverlayIsNoChunk() throws IOException {
        assertThatThrownBy(() -> read(golden("chunk-1a"), reference(CHUNK)))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("of no chunk");
        assertThatThrownBy(() -> ChunkReader.readHead(file("x", golden("overlay-1")), OVERLAY.summary()))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("it is an overlay of chunk 0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4001");
    }

    /** Builds an overlay with one field. */
    private static PackedChunk overlay(UUID dataset, UUID of, Field field, int rows) {
        ChunkBuilder builder = new ChunkBuilder(List.of(field), 4096);
        for (int row = 0; row < rows; row++) {
            builder.beginRow("k" + row);
            builder.setLong(0, row);
            builder.endRow();
        }
        UUID id = UUID.fromString("0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4abd");
        return builder.finish(new ChunkIdentity(dataset, id, "update-2", "train", Instant.EPOCH, Optional.of(of)));
    }

    private static void isRefused(
            UUID dataset, UUID of, Field field, int rows, Class<? extends Exception> type, String message) {
        PackedChunk overlay = overlay(dataset, of, field, rows);
        assertThatThrownBy(() -> read(ChunkFixtures.bytes(overlay).array(), reference(overlay)))
                .isInstanceOf(type)
                .hasMessageContaining(message);
    }

    @Test
    void anOverlayOfAnotherChunkDatasetOrLayoutIsRefused() {
        UUID dataset = UUID.fromString("0f8fad5b-d9cb-469f-a165-70867728950e");
        UUID chunk = CHUNK.summary().id();
        UUID other = UUID.fromString("0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4002");
        Field field = new Field("int64", ScalarType.INT64, false, false);

        isRefused(other, chunk, field, 5, ForeignFileException.class, "of dataset " + other);
        isRefused(dataset, other, field, 5, ForeignFileException.class, "of chunk " + other);
        isRefused(dataset, chunk, field, 4, CorruptDataException.class, "rows");
        isRefused(
                dataset,
                chunk,
                new Field("int64", ScalarType.INT32, false, false),
                5,
                CorruptDataException.class,
                "small fields of the version");
    }
}

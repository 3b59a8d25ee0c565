package dev.stoker.metadata.diff;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.PackedChunk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SampleDigestTest {
    private static final UUID ID = UUID.fromString("0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4001");

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static ChunkHead head(String type, List<@Nullable List<@Nullable ByteBuffer>> rows) throws IOException {
        ChunkBuilder builder = new ChunkBuilder(List.of(Field.nullable("x", FieldType.parse(type))), 1024);
        for (int row = 0; row < rows.size(); row++) {
            builder.beginRow("k" + row);
            List<@Nullable ByteBuffer> items = rows.get(row);
            if (items != null) {
                builder.setItems(0, items);
            }
            builder.endRow();
        }
        PackedChunk packed = builder.finish(new ChunkIdentity(ID, ID, "a", "train", Instant.EPOCH));
        ByteBuffer file = ByteBuffer.allocate((int) packed.summary().length());
        for (ByteBuffer buffer : packed.buffers()) {
            file.put(buffer.duplicate());
        }
        return ChunkHead.parse(
                file.flip().limit((int) packed.summary().headLength()),
                packed.summary().length(),
                "c");
    }

    private static void requireDistinct(String type, List<@Nullable List<@Nullable ByteBuffer>> rows)
            throws IOException {
        ChunkHead head = head(type, rows);
        SampleDigest digest = new SampleDigest();
        Set<SampleDigest.Content> contents = new HashSet<>();
        for (int row = 0; row < rows.size(); row++) {
            SampleDigest.Content content = digest.of(head, row);
            assertThat(contents.add(content)).as("row %s", row).isTrue();
            assertThat(digest.of(head, row)).isEqualTo(content);
        }
    }

    @Test
    void tellsNullItemsFromZerosAndEmptyTexts() throws IOException {
        ByteBuffer zero = ByteBuffer.allocate(4);
        List<@Nullable List<@Nullable ByteBuffer>> numbers = new ArrayList<>(List.of(
                List.of(),
                List.of(zero),
                Arrays.asList((ByteBuffer) null),
                Arrays.asList(zero, null),
                Arrays.asList(null, zero),
                Arrays.asList(null, null)));
        numbers.add(null);
        requireDistinct("int32?[]", numbers);
        ByteBuffer empty = bytes("");
        requireDistinct(
                "utf8?[]",
                List.of(
                        List.of(empty),
                        Arrays.asList((ByteBuffer) null),
                        Arrays.asList(empty, null),
                        Arrays.asList(null, empty),
                        Arrays.asList(bytes("ab"), null, bytes("c")),
                        Arrays.asList(bytes("a"), null, bytes("bc"))));
    }
}

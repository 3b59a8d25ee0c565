package dev.stoker.schemas.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.batch.BatchBuilder;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.batch.BatchMessage;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AddedFieldsTest {
    private static final Field NUMBER = Field.small("number", ScalarType.INT64);
    private static final Field IMAGE = Field.payload("image", ScalarType.BINARY);
    private static final List<Field> BASE = List.of(NUMBER, IMAGE);
    private static final Field SCORE = Field.nullable("score", ScalarType.FLOAT64);
    private static final Field NOTE = Field.nullable("no\"te ä=", ScalarType.UTF8);
    private static final AddedFields BOTH = AddedFields.of(List.of(SCORE, NOTE));
    private static final UUID DATASET = new UUID(7, 7);

    /** One of each layout and kind. */
    private static final AddedFields ALL_TYPES = AddedFields.of(Stream.of(
                    "bool",
                    "int8",
                    "uint64",
                    "float16",
                    "categorical",
                    "utf8",
                    "binary",
                    "int32[]",
                    "float32[2,3]",
                    "utf8[]",
                    "int64[][]",
                    "int16?[]",
                    "utf8?[]",
                    "date",
                    "timestamp[us]",
                    "decimal(10,2)")
            .map(type -> Field.nullable("new " + type.replace(':', '_'), FieldType.parse(type)))
            .toList());

    /** Builds a chunk of three rows whose added fields are null. */
    private static ByteBuffer chunk(List<Field> fields) {
        ChunkBuilder builder = new ChunkBuilder(fields, 4096);
        for (int row = 0; row < 3; row++) {
            builder.beginRow("k" + row);
            builder.setLong(fields.indexOf(NUMBER), row);
            builder.setBytes(fields.indexOf(IMAGE), ByteBuffer.wrap(new byte[] {1, 2, (byte) row}));
            builder.endRow();
        }
        return ChunkFixtures.bytes(
                builder.finish(new ChunkIdentity(DATASET, new UUID(1, 1), "ingest", "train", Instant.EPOCH)));
    }

    private static ChunkHead head(ByteBuffer chunk) throws IOException {
        return ChunkReader.open(new BufferRangeReader("chunk", chunk));
    }

    private static ByteBuffer batch(ChunkHead head, ByteBuffer file, List<Field> fields) throws IOException {
        BatchBuilder builder = new BatchBuilder(fields);
        BatchChunk chunk = builder.chunk(head, file, 0, new int[fields.size()][0]);
        BatchMessage message = builder.build(
                new BatchChunk[] {chunk},
                new int[] {0, 0},
                new int[] {2, 0},
                0,
                2,
                length -> ByteBuffer.allocate(length));
        ByteBuffer all = ByteBuffer.allocate(message.length());
        for (ByteBuffer part : message.parts()) {
            all.put(part.duplicate());
        }
        return all.flip();
    }

    @Test
    void followTheSmallFieldsInTheirOrder() {
        assertThat(BOTH.in(BASE)).containsExactly(NUMBER, SCORE, NOTE, IMAGE);
        assertThat(BOTH.in(List.of(NUMBER, NOTE, IMAGE))).containsExactly(NUMBER, SCORE, NOTE, IMAGE);
        assertThat(BOTH.in(BOTH.in(BASE))).isEqualTo(BOTH.in(BASE));
        assertThat(BOTH.without(BOTH.in(BASE))).isEqualTo(BASE);
        assertThat(AddedFields.NONE.in(BASE)).isEqualTo(BASE);
        assertThatThrownBy(() -> AddedFields.of(List.of(Field.nullable("number", ScalarType.UTF8)))
                        .in(BASE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'number' has the name of another field");
    }

    @Test
    void areMergedByName() {
        AddedFields one = AddedFields.of(List.of(NOTE));

        assertThat(one.with(BOTH).fields()).containsExactly(NOTE, SCORE);
        assertThat(BOTH.with(one)).isSameAs(BOTH);
        assertThatThrownBy(() -> one.with(AddedFields.of(List.of(Field.nullable(NOTE.name(), ScalarType.BINARY)))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has the type utf8; it cannot be added with the type binary");
    }

    @Test
    void mustBeSmallAndNullable() {
        for (Field field : List.of(NUMBER, IMAGE)) {
            assertThatThrownBy(() -> AddedFields.of(List.of(field)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("expected a small field that may be null");
        }
        assertThatThrownBy(() -> AddedFields.of(List.of(SCORE, SCORE))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void theFieldsOfAChunkSayWhichOnesItHas() {
        assertThat(AddedFields.beyond(BASE, BASE)).contains(AddedFields.NONE);
        assertThat(AddedFields.beyond(BASE, BOTH.in(BASE))).contains(BOTH);
        assertThat(AddedFields.beyond(BASE, List.of(IMAGE))).isEmpty();
        assertThat(AddedFields.beyond(BASE, List.of(NUMBER, NUMBER))).isEmpty();
        assertThat(AddedFields.beyond(BASE, List.of(Field.nullable("number", ScalarType.UTF8), NUMBER, IMAGE)))
                .isEmpty();
        assertThat(AddedFields.beyond(BASE, List.of(NUMBER, Field.small("other", ScalarType.BOOL), IMAGE)))
                .isEmpty();
        assertThat(BOTH.fit(BASE, List.of(NUMBER, NOTE, IMAGE))).isTrue();
        assertThat(BOTH.fit(BOTH.in(BASE), BASE)).isTrue();
        assertThat(BOTH.fit(BASE, List.of(SCORE, IMAGE))).isFalse();
    }

    @Test
    void areWrittenAsTextAndByJavaSerialization() throws Exception {
        assertThat(BOTH)
                .hasToString(
                        "[{\"name\":\"score\",\"type\":\"float64\"},{\"name\":\"no\\\"te ä=\",\"type\":\"utf8\"}]");
        for (AddedFields added : List.of(BOTH, ALL_TYPES, AddedFields.NONE)) {
            assertThat(AddedFields.parse(added.toString())).isEqualTo(added);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
                out.writeObject(added);
            }
            try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
                assertThat(((AddedFields) in.readObject()).fields()).isEqualTo(added.fields());
            }
        }
        for (String wrong : List.of("", "{}", "7", "[7]", "[{\"name\":\"a\"}]", "[{\"name\":\"a\",\"type\":\"no\"}]")) {
            assertThatThrownBy(() -> AddedFields.parse(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aChunkWithoutAnAddedFieldHasTheBatchesOfOneWithNulls() throws IOException {
        List<Field> all = ALL_TYPES.in(BASE);
        ByteBuffer without = chunk(BASE);
        ByteBuffer with = chunk(all);

        ChunkHead extended = head(without).with(null, ALL_TYPES);

        assertThat(extended.fields()).isEqualTo(all);
        ByteBuffer expected = batch(head(with), with, all);
        assertThat(batch(extended, without, all)).isEqualTo(expected);
        assertThat(batch(head(with).with(null, ALL_TYPES), with, all)).isEqualTo(expected);
        for (int row = 0; row < 3; row++) {
            assertThat(extended.rowBytes(row)).isEqualTo(head(with).rowBytes(row));
        }
        // A reader that began before the fields were added.
        assertThat(batch(head(with).select(BASE), with, BASE)).isEqualTo(batch(head(without), without, BASE));
        assertThat(batch(extended.select(BASE), without, BASE)).isEqualTo(batch(head(without), without, BASE));
    }

    @Test
    void anOverlayCanHaveSomeOfThem() throws IOException {
        List<Field> some = List.of(NOTE);
        ChunkBuilder builder = new ChunkBuilder(some, 4096);
        for (int row = 0; row < 3; row++) {
            builder.beginRow("k" + row);
            builder.setBytes(0, ByteBuffer.wrap(new byte[] {'a'}));
            builder.endRow();
        }
        ChunkHead overlay = head(ChunkFixtures.bytes(
                builder.finish(new ChunkIdentity(DATASET, new UUID(2, 2), "update", "train", Instant.EPOCH))));

        ChunkHead head = head(chunk(BASE)).with(overlay, BOTH);

        assertThat(head.fields()).containsExactly(NUMBER, SCORE, NOTE, IMAGE);
        assertThat(head.column(0).longAt(2)).isEqualTo(2);
        assertThat(head.column(1).isNull(0)).isTrue();
        assertThat(head.column(2).stringAt(1)).isEqualTo("a");
        assertThat(head.payloadLength(3, 0)).isEqualTo(3);
        assertThatThrownBy(() -> head(chunk(BASE)).with(overlay, AddedFields.of(List.of(SCORE))))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("small fields of the version");
    }

    @Test
    void readersThatDoNotAddThemRefuseTheChunk() throws IOException {
        ByteBuffer file = chunk(BASE);
        ChunkSummary summary = ChunkReader.verify(new BufferRangeReader("chunk", file));
        List<ChunkSummary> chunks = new ArrayList<>(List.of(summary.with(BOTH)));

        assertThatThrownBy(() -> ChunkReader.readHead(new BufferRangeReader("chunk", file), chunks.get(0)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has the added fields [{\"name\":\"score\"");
        assertThatThrownBy(() -> ColumnReader.open(new BufferRangeReader("chunk", file), chunks.get(0)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(chunks.get(0).withoutOverlay()).isEqualTo(summary);
    }
}

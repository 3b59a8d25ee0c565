package dev.stoker.metadata.selection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.condition.RowPredicate;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SampleFilterTest {
    private static final List<Field> FIELDS = List.of(
            Field.nullable("label", ScalarType.CATEGORICAL),
            Field.nullable("flag", ScalarType.BOOL),
            Field.nullable("small", ScalarType.UINT8),
            Field.nullable("large", ScalarType.UINT64),
            Field.nullable("score", ScalarType.FLOAT32),
            Field.nullable("day", ScalarType.DATE),
            Field.nullable("at", FieldType.parse("timestamp[ms,UTC]")),
            Field.nullable("price", FieldType.parse("decimal(9,2)")),
            Field.nullable("text", ScalarType.UTF8),
            Field.nullable("tokens", FieldType.parse("int32[]")),
            new Field("caption", ScalarType.UTF8, true, true));

    /** Two samples: one with all values, one with nulls. */
    private static byte[] chunk() throws IOException {
        ChunkBuilder builder = new ChunkBuilder(FIELDS, 1 << 12);
        builder.beginRow("a/full");
        builder.setClass(0, "öwl");
        builder.setLong(1, 1);
        builder.setLong(2, 200);
        builder.setLong(3, -1);
        builder.setDouble(4, 0.1f);
        builder.setLong(5, LocalDate.of(2026, 2, 3).toEpochDay());
        builder.setLong(6, Instant.parse("2026-02-03T04:05:06Z").toEpochMilli());
        builder.setDecimal(7, new BigDecimal("12.50"));
        builder.setString(8, "text");
        builder.setBytes(9, ByteBuffer.allocate(8));
        builder.setString(10, "a caption");
        builder.endRow();
        builder.beginRow("b/null");
        for (int f = 0; f < FIELDS.size(); f++) {
            builder.setNull(f);
        }
        builder.endRow();
        PackedChunk packed =
                builder.finish(new ChunkIdentity(new UUID(1, 2), new UUID(3, 4), "test", "train", Instant.EPOCH));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (ByteBuffer buffer : packed.buffers()) {
            Channels.newChannel(bytes).write(buffer.duplicate());
        }
        return bytes.toByteArray();
    }

    private static SampleFilter filter(String expression) {
        RowPredicate condition = RowExpression.parse(expression).bind(SampleFilter.types(FIELDS));
        return new SampleFilter(condition, FIELDS);
    }

    private static BatchChunk open(byte[] file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(file);
        ChunkHead head = ChunkReader.open(new BufferRangeReader("test", bytes));
        return new BatchChunk(head, bytes, 0, new int[][] {{0}});
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "key = 'a/full' | true | false",
                "key > 'a/full' | false | true",
                "label = 'öwl' | true | false",
                "label IN ('cat', 'dog') | false | false",
                "label IS NULL | false | true",
                "flag | true | false",
                "NOT flag | false | false",
                "small > 127 | true | false",
                "large = 18446744073709551615 | true | false",
                "score = 0.1 | true | false",
                "score IS NULL OR score < 0 | false | true",
                "day = '2026-02-03' | true | false",
                "at BETWEEN '2026-02-03' AND '2026-02-04' | true | false",
                "at < TIMESTAMP '2026-02-03 04:05:06' | false | false",
                "price = 12.5 | true | false",
                "price <> 12.5 | false | false",
                "text >= 'te' AND text < 'tf' | true | false",
                "tokens IS NOT NULL | true | false",
                "caption = 'a caption' | true | false",
                "caption IS NULL | false | true"
            })
    void comparesTheStoredValues(String expression, boolean full, boolean empty) throws Exception {
        SampleFilter filter = filter(expression);
        BatchChunk chunk = open(chunk());
        assertThat(filter.matches(chunk.head(), chunk.bytes(), 0)).isEqualTo(full);
        assertThat(filter.matches(chunk.head(), chunk.bytes(), 1)).isEqualTo(empty);
    }

    @Test
    void readsPayloadOnlyIfTheConditionUsesIt() throws Exception {
        assertThat(filter("caption = 'x'").readsPayload()).isTrue();
        SampleFilter small = filter("label = 'öwl' AND tokens IS NOT NULL");
        assertThat(small.readsPayload()).isFalse();
        assertThat(small.matches(open(chunk()).head(), null, 0)).isTrue();
    }

    @Test
    void aDamagedValueExcludesNoSample() throws Exception {
        byte[] file = chunk();
        byte[] caption = "a caption".getBytes(StandardCharsets.UTF_8);
        int at = 0;
        while (!ByteBuffer.wrap(file, at, caption.length).equals(ByteBuffer.wrap(caption))) {
            at++;
        }
        file[at] ^= 1;
        BatchChunk chunk = open(file);
        assertThatThrownBy(() -> filter("caption = 'a caption'").matches(chunk.head(), chunk.bytes(), 0))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("caption of row 0, key 'a/full'");
    }
}

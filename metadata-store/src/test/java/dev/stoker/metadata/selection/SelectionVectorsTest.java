package dev.stoker.metadata.selection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.json.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Holds the evaluation on heads to the rows of {@code vectors/where.json}. */
class SelectionVectorsTest {
    private final JsonNode vectors = vectors();
    private final List<Field> fields = fields();
    private final ChunkHead head = head();

    SelectionVectorsTest() throws IOException {}

    private static JsonNode vectors() throws IOException {
        try (InputStream in = SelectionVectorsTest.class.getResourceAsStream("/vectors/where.json")) {
            return Json.STRICT.readTree(in);
        }
    }

    private List<Field> fields() {
        List<Field> all = new ArrayList<>();
        vectors.get("fields")
                .forEach(field -> all.add(Field.nullable(
                        field.get("name").textValue(),
                        FieldType.parse(field.get("type").textValue()))));
        return all;
    }

    private ChunkHead head() throws IOException {
        ChunkBuilder builder = new ChunkBuilder(fields, 1 << 12);
        for (JsonNode row : vectors.get("rows")) {
            builder.beginRow(row.get("key").textValue());
            for (int f = 0; f < fields.size(); f++) {
                set(builder, f, row.get(fields.get(f).name()));
            }
            builder.endRow();
        }
        ChunkIdentity identity = new ChunkIdentity(new UUID(1, 2), new UUID(3, 4), "test", "train", Instant.EPOCH);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (ByteBuffer buffer : builder.finish(identity).buffers()) {
            Channels.newChannel(bytes).write(buffer.duplicate());
        }
        return ChunkReader.open(new BufferRangeReader("test", ByteBuffer.wrap(bytes.toByteArray())));
    }

    private void set(ChunkBuilder builder, int field, JsonNode value) {
        FieldType type = fields.get(field).type();
        if (value.isNull()) {
            builder.setNull(field);
        } else if (type instanceof DecimalType) {
            builder.setDecimal(field, new BigDecimal(value.textValue()));
        } else if (value.isArray()) {
            builder.setBytes(
                    field, ByteBuffer.allocate(value.size() * type.width() / (type.hasOffsets() ? 1 : value.size())));
        } else if (type == ScalarType.CATEGORICAL) {
            builder.setClass(field, value.textValue());
        } else if (type == ScalarType.UTF8 || type == ScalarType.BINARY) {
            builder.setBytes(field, StandardCharsets.UTF_8.encode(value.textValue()));
        } else if (type instanceof ScalarType scalar
                && List.of(ScalarType.FLOAT16, ScalarType.BFLOAT16, ScalarType.FLOAT32, ScalarType.FLOAT64)
                        .contains(scalar)) {
            builder.setDouble(field, value.isTextual() ? Double.parseDouble(value.textValue()) : value.doubleValue());
        } else {
            builder.setLong(
                    field,
                    value.isBoolean()
                            ? (value.booleanValue() ? 1 : 0)
                            : value.bigIntegerValue().longValue());
        }
    }

    @Test
    void conditionsSelectTheirRows() throws IOException {
        assertThat(vectors.get("cases").size()).isGreaterThan(80);
        for (JsonNode each : vectors.get("cases")) {
            List<Integer> expected = new ArrayList<>();
            each.get("selected").forEach(row -> expected.add(row.intValue()));
            String where = each.get("where").textValue();
            assertThat(selected(where)).as(where).isEqualTo(expected);
            String canonical = RowExpression.parse(where).canonical();
            assertThat(selected(canonical)).as(canonical).isEqualTo(expected);
        }
    }

    private List<Integer> selected(String where) throws IOException {
        byte[] bitmap =
                new SampleFilter(RowExpression.parse(where).bind(SampleFilter.types(fields)), fields).selects(head);
        List<Integer> rows = new ArrayList<>();
        for (int row = 0; row < head.rows(); row++) {
            if ((bitmap[row / 8] >> (row % 8) & 1) != 0) {
                rows.add(row);
            }
        }
        return rows;
    }

    @Test
    void whatDoesNotFitTheFieldsIsRefused() {
        for (JsonNode where : vectors.get("refused")) {
            RowExpression expression = RowExpression.parse(where.textValue());
            assertThatThrownBy(() -> expression.bind(SampleFilter.types(fields)))
                    .as(where.textValue())
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}

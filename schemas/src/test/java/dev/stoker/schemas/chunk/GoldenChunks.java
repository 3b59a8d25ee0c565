package dev.stoker.schemas.chunk;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The golden files' content as JSON, and the chunks that today's builder makes of it. */
public final class GoldenChunks {
    private static final ObjectMapper JSON = new ObjectMapper();

    private GoldenChunks() {}

    /** The bytes of a file in {@code src/test/resources/golden}. */
    public static byte[] file(String name) {
        try (InputStream in = GoldenChunks.class.getResourceAsStream("/golden/" + name)) {
            if (in == null) {
                throw new IllegalStateException("no golden file " + name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A golden JSON file. */
    public static JsonNode json(String name) {
        try {
            return JSON.readTree(file(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The fields that {@code <name>.json} describes. */
    public static List<Field> fields(String name) {
        List<Field> fields = new ArrayList<>();
        for (JsonNode field : json(name + ".json").get("fields")) {
            fields.add(new Field(
                    field.get("name").asText(),
                    FieldType.parse(field.get("type").asText()),
                    field.get("nullable").asBoolean(),
                    field.get("payload").asBoolean()));
        }
        return fields;
    }

    /** The chunk that is described by {@code <name>.json}, built again. */
    public static PackedChunk build(String name) {
        JsonNode json = json(name + ".json");
        List<Field> fields = fields(name);
        ChunkBuilder builder = new ChunkBuilder(fields, 4096);
        for (JsonNode row : json.get("rows")) {
            builder.beginRow(row.get("key").asText());
            for (int f = 0; f < fields.size(); f++) {
                set(builder, f, fields.get(f), row.get(fields.get(f).name()));
            }
            builder.endRow();
        }
        return builder.finish(new ChunkIdentity(
                UUID.fromString(json.get("dataset").asText()),
                UUID.fromString(json.get("chunk").asText()),
                json.get("ingest").asText(),
                json.get("split").asText(),
                Instant.parse(json.get("created").asText()),
                Optional.ofNullable(json.get("overlaid")).map(id -> UUID.fromString(id.asText()))));
    }

    private static void set(ChunkBuilder builder, int f, Field field, JsonNode value) {
        FieldType type = field.type();
        if (value.isNull()) {
            builder.setNull(f);
        } else if (type instanceof ListType list && list.items() != null) {
            List<@Nullable ByteBuffer> items = new ArrayList<>();
            for (JsonNode item : value) {
                items.add(item.isNull() ? null : item(list.item(), item));
            }
            builder.setItems(f, items);
        } else if (type instanceof DecimalType) {
            builder.setDecimal(f, new BigDecimal(value.asText()));
        } else if (type instanceof TimestampType || type instanceof TimeType) {
            builder.setLong(f, value.longValue());
        } else if (type instanceof ListType list) {
            builder.setBytes(f, elements(list.element(), value));
        } else if (type instanceof TensorType tensor) {
            builder.setBytes(f, elements(tensor.element(), value));
        } else if (type == ScalarType.UTF8) {
            builder.setString(f, value.asText());
        } else if (type == ScalarType.BINARY) {
            builder.setBytes(f, ByteBuffer.wrap(HexFormat.of().parseHex(value.asText())));
        } else if (type == ScalarType.CATEGORICAL) {
            builder.setClass(f, value.asText());
        } else if (((ScalarType) type).isFloat()) {
            builder.setDouble(f, value.asDouble());
        } else {
            builder.setLong(
                    f,
                    value.isBoolean()
                            ? (value.asBoolean() ? 1 : 0)
                            : value.bigIntegerValue().longValue());
        }
    }

    private static ByteBuffer item(FieldType type, JsonNode item) {
        if (type instanceof ListType list) {
            return elements(list.element(), item);
        }
        if (type instanceof ScalarType number && number.isNumber()) {
            return elements(number, JsonNodeFactory.instance.arrayNode().add(item));
        }
        return ByteBuffer.wrap(
                type == ScalarType.UTF8
                        ? item.asText().getBytes(StandardCharsets.UTF_8)
                        : HexFormat.of().parseHex(item.asText()));
    }

    private static ByteBuffer elements(ScalarType type, JsonNode values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.size() * type.width()).order(ByteOrder.LITTLE_ENDIAN);
        for (JsonNode value : values) {
            switch (type) {
                case INT32 -> bytes.putInt(value.asInt());
                case UINT8 -> bytes.put((byte) value.asInt());
                case FLOAT32 -> bytes.putFloat((float) value.asDouble());
                // Exact for the values in the golden files: they fit a bfloat16.
                case BFLOAT16 -> bytes.putShort((short) (Float.floatToRawIntBits((float) value.asDouble()) >>> 16));
                default -> throw new IllegalStateException("no golden values of type " + type);
            }
        }
        return bytes.flip();
    }
}

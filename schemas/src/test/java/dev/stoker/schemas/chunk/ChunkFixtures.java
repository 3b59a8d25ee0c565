package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Chunks with known or random content for tests, also of other modules. */
public final class ChunkFixtures {
    /** A field of every type, small ones and payload ones; small ones also nullable. */
    public static final List<Field> ALL_TYPES = allTypes();

    /** What an image dataset has. */
    public static final List<Field> IMAGES = List.of(
            Field.small("label", ScalarType.CATEGORICAL),
            Field.nullable("score", ScalarType.FLOAT32),
            Field.payload("image", ScalarType.BINARY));

    private ChunkFixtures() {}

    /** A fixed identity; {@code n} tells chunks of one dataset apart. */
    public static ChunkIdentity identity(int n) {
        return new ChunkIdentity(
                UUID.fromString("11111111-2222-4333-8444-555555555555"),
                new UUID(0x0193_0000_0000_7000L + n, 0x8000_0000_0000_0000L + n),
                "99999999-0000-4000-8000-000000000001",
                "train",
                Instant.parse("2026-01-02T03:04:05.678Z"));
    }

    /** The bytes of a chunk, as a file would hold them. */
    public static ByteBuffer bytes(PackedChunk chunk) {
        ByteBuffer file = ByteBuffer.allocate((int) chunk.summary().length());
        chunk.buffers().forEach(part -> file.put(part.duplicate()));
        return file.flip();
    }

    /** A builder with {@code rows} random rows; keys are {@code k<n>-…}. */
    public static ChunkBuilder random(List<Field> fields, int rows, int n, Random random) {
        ChunkBuilder builder = new ChunkBuilder(fields, 1 << 16);
        for (int row = 0; row < rows; row++) {
            builder.beginRow("k" + n + "-" + row + "ä".repeat(random.nextInt(4)));
            for (int f = 0; f < fields.size(); f++) {
                set(builder, f, fields.get(f), random);
            }
            builder.endRow();
        }
        return builder;
    }

    private static void set(ChunkBuilder builder, int f, Field field, Random random) {
        if (field.nullable() && random.nextInt(3) == 0) {
            if (random.nextBoolean()) {
                builder.setNull(f);
            }
            return;
        }
        FieldType type = field.type();
        if (type instanceof ListType list && list.nullItems()) {
            builder.setItems(f, nullableItems(random, list));
        } else if (type instanceof ListType list && list.items() != null) {
            builder.setItems(f, items(random, list));
        } else if (type instanceof TimestampType) {
            builder.setLong(f, random.nextLong());
        } else if (type instanceof TimeType time) {
            builder.setLong(f, random.nextLong(time.unit().perDay()));
        } else if (type instanceof DecimalType decimal) {
            long unscaled = random.nextLong()
                    % BigInteger.TEN.pow(Math.min(decimal.precision(), 18)).longValue();
            builder.setDecimal(f, BigDecimal.valueOf(unscaled, decimal.scale()));
        } else if (type instanceof ListType list) {
            builder.setBytes(f, bytes(random, random.nextInt(5) * list.width()));
        } else if (type instanceof TensorType) {
            builder.setBytes(f, bytes(random, type.width()));
        } else {
            switch ((ScalarType) type) {
                case BOOL -> builder.setLong(f, random.nextInt(2));
                case INT8 -> builder.setLong(f, (byte) random.nextInt());
                case INT16 -> builder.setLong(f, (short) random.nextInt());
                case INT32, DATE -> builder.setLong(f, random.nextInt());
                case INT64, UINT64 -> builder.setLong(f, random.nextLong());
                case UINT8 -> builder.setLong(f, random.nextInt() & 0xFF);
                case UINT16 -> builder.setLong(f, random.nextInt() & 0xFFFF);
                case UINT32 -> builder.setLong(f, random.nextInt() & 0xFFFFFFFFL);
                case FLOAT16, BFLOAT16, FLOAT32, FLOAT64 -> builder.setDouble(f, random.nextInt(100) / 8.0);
                case UTF8 -> builder.setString(f, "tö".repeat(random.nextInt(field.payload() ? 300 : 4)));
                case BINARY -> builder.setBytes(f, bytes(random, random.nextInt(field.payload() ? 900 : 9)));
                case CATEGORICAL -> builder.setClass(f, "class \"" + (char) ('a' + random.nextInt(5)) + "\"");
            }
        }
    }

    private static List<ByteBuffer> items(Random random, ListType type) {
        return Stream.generate(() -> type.item() == ScalarType.UTF8
                        ? ByteBuffer.wrap("tö".repeat(random.nextInt(4)).getBytes(StandardCharsets.UTF_8))
                        : bytes(random, random.nextInt(4) * type.width()))
                .limit(random.nextInt(4))
                .toList();
    }

    private static List<@Nullable ByteBuffer> nullableItems(Random random, ListType type) {
        List<@Nullable ByteBuffer> items = new ArrayList<>();
        for (int i = random.nextInt(20); i > 0; i--) {
            ByteBuffer item = type.item() == ScalarType.UTF8
                    ? ByteBuffer.wrap("tö".repeat(random.nextInt(4)).getBytes(StandardCharsets.UTF_8))
                    : bytes(random, type.element().isNumber() ? type.width() : random.nextInt(4));
            items.add(random.nextInt(3) == 0 ? null : item);
        }
        return items;
    }

    private static ByteBuffer bytes(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }

    private static List<Field> allTypes() {
        List<Field> fields = new ArrayList<>();
        List<FieldType> shaped = List.of(
                new ListType(ScalarType.INT32),
                new ListType(ScalarType.BFLOAT16),
                new TensorType(ScalarType.FLOAT32, List.of(2, 3)),
                new TensorType(ScalarType.BFLOAT16, List.of(3)));
        List<FieldType> types = new ArrayList<>(List.of(ScalarType.values()));
        types.addAll(shaped);
        types.addAll(Stream.of(
                        "timestamp[s]",
                        "timestamp[ms]",
                        "timestamp[us,Europe/Berlin]",
                        "timestamp[ns,+02:00]",
                        "time[s]",
                        "time[ms]",
                        "time[us]",
                        "time[ns]",
                        "decimal(38,38)",
                        "decimal(3,0)",
                        "utf8[]",
                        "binary[]",
                        "int32[][]",
                        "bfloat16[][]",
                        "uint8[][]",
                        "int32?[]",
                        "bfloat16?[]",
                        "uint8?[]",
                        "float64?[]",
                        "utf8?[]",
                        "binary?[]")
                .map(FieldType::parse)
                .toList());
        for (FieldType type : types) {
            String name = type.canonical().replaceAll("[^a-z0-9\\[]+", "_");
            fields.add(Field.small(name, type));
            fields.add(Field.nullable(name + ".maybe", type));
        }
        fields.add(Field.payload("text", ScalarType.UTF8));
        fields.add(Field.payload("data", ScalarType.BINARY));
        fields.add(new Field("text.maybe", ScalarType.UTF8, true, true));
        fields.add(new Field("data.maybe", ScalarType.BINARY, true, true));
        for (FieldType type : shaped) {
            fields.add(Field.payload("big." + type.canonical().replaceAll("[^a-z0-9]+", "_"), type));
        }
        return List.copyOf(fields);
    }
}

package dev.stoker.cli.samples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.cli.AnyDataset;
import dev.stoker.cli.Stoker;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkFixtures;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The values that {@code get --json} and {@code show --json} print, for every type. */
class SampleJsonTest {

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();

    private JsonNode stoker(String... args) throws IOException {
        out.getBuffer().setLength(0);
        StringWriter err = new StringWriter();
        assertThat(Stoker.run(List.of(args), new PrintWriter(out, true), new PrintWriter(err, true)))
                .as(err.toString())
                .isZero();
        return Json.PLAIN.readTree(out.toString());
    }

    /** A value, and its JSON text. */
    private record Case(String type, BiConsumer<ChunkBuilder, Integer> set, String json) {}

    private static Case of(String type, long value, String json) {
        return new Case(type, (row, f) -> row.setLong(f, value), json);
    }

    private static Case of(String type, double value, String json) {
        return new Case(type, (row, f) -> row.setDouble(f, value), json);
    }

    private static Case of(String type, ByteBuffer value, String json) {
        return new Case(type, (row, f) -> row.setBytes(f, value.duplicate()), json);
    }

    private static Case items(String type, String json, ByteBuffer... items) {
        return new Case(type, (row, f) -> row.setItems(f, Arrays.asList(items)), json);
    }

    private static ByteBuffer bytes(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length);
        for (int value : values) {
            bytes.put((byte) value);
        }
        return bytes.flip();
    }

    private static ByteBuffer ints(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            bytes.putInt(value);
        }
        return bytes.flip();
    }

    private static ByteBuffer floats(float... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            bytes.putFloat(value);
        }
        return bytes.flip();
    }

    private static ByteBuffer longs(long... values) {
        ByteBuffer bytes = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (long value : values) {
            bytes.putLong(value);
        }
        return bytes.flip();
    }

    private static final List<Case> CASES = List.of(
            of("bool", 1, "true"),
            of("int8", -128, "-128"),
            of("uint32", 0xFFFFFFFFL, "4294967295"),
            of("int64", Long.MIN_VALUE, "-9223372036854775808"),
            of("uint64", -1, "18446744073709551615"),
            of("float16", 0.1, "0.099975586"),
            of("bfloat16", 0.1, "0.100097656"),
            of("float32", 0.1, "0.1"),
            of("float64", 0.1, "0.1"),
            of("float64", Double.NaN, "\"NaN\""),
            of("float32", Double.POSITIVE_INFINITY, "\"Infinity\""),
            of("float64", Double.NEGATIVE_INFINITY, "\"-Infinity\""),
            of("float64", -0.0, "-0.0"),
            new Case("utf8", (row, f) -> row.setString(f, "t\"ö\u001b"), "\"t\\\"ö\\u001B\""),
            of("binary", bytes(0, 255, 16), "\"AP8Q\""),
            new Case("categorical", (row, f) -> row.setClass(f, "cat"), "\"cat\""),
            of("date", -1, "\"1969-12-31\""),
            of("timestamp[us]", 1_500_000, "\"1970-01-01T00:00:01.5\""),
            of("timestamp[s,UTC]", 60, "\"1970-01-01T00:01:00Z\""),
            of("timestamp[s]", Long.MAX_VALUE, "9223372036854775807"),
            of("time[ms]", 60_000, "\"00:01:00\""),
            new Case("decimal(5,2)", (row, f) -> row.setDecimal(f, new BigDecimal("-1.50")), "\"-1.50\""),
            of("int32[]", ints(-1, 2), "[-1,2]"),
            of("int32[]", ints(), "[]"),
            of("uint64[]", longs(-1), "[18446744073709551615]"),
            of("float32[]", floats(0.1f, Float.NaN), "[0.1,\"NaN\"]"),
            of("float32[2,2]", floats(1, 2, 3, 4), "[[1.0,2.0],[3.0,4.0]]"),
            of("int32[1]", ints(7), "[7]"),
            items("utf8[]", "[\"a\",\"\"]", bytes('a'), bytes()),
            items("binary[]", "[\"AA==\",\"\"]", bytes(0), bytes()),
            items("int32[][]", "[[1,2],[]]", ints(1, 2), ints()),
            items("int32?[]", "[1,null]", ints(1), null),
            items("utf8?[]", "[null,\"a\"]", null, bytes('a')),
            items("binary?[]", "[null,\"/w==\"]", null, bytes(255)));

    @Test
    void eachTypeHasItsForm() throws IOException {
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < CASES.size(); i++) {
            fields.add(Field.nullable("f" + i, FieldType.parse(CASES.get(i).type())));
        }
        fields.add(Field.payload("data", FieldType.parse("binary")));
        fields.add(new Field("text", ScalarType.UTF8, true, true));
        fields.add(Field.payload("tensor", FieldType.parse("float32[2,1]")));
        AnyDataset.create(directory, "types", fields).append("train", row -> {
            row.beginRow("values");
            for (int i = 0; i < CASES.size(); i++) {
                CASES.get(i).set().accept(row, i);
            }
            row.setBytes(CASES.size(), bytes(1, 2));
            row.setString(CASES.size() + 1, "text");
            row.setBytes(CASES.size() + 2, floats(1, 2));
            row.endRow();
            row.beginRow("nulls");
            row.setBytes(CASES.size(), bytes());
            row.setBytes(CASES.size() + 2, floats(0, 0));
            row.endRow();
        });

        JsonNode got = stoker("get", directory.toString(), "values", "--json").get("fields");
        JsonNode shown =
                stoker("show", directory.toString(), "values", "--json").get(0);
        JsonNode nulls = stoker("get", directory.toString(), "nulls", "--json").get("fields");
        for (int i = 0; i < CASES.size(); i++) {
            assertThat(got.get("f" + i).toString())
                    .as(CASES.get(i).type())
                    .isEqualTo(Json.PLAIN.readTree(CASES.get(i).json()).toString());
            assertThat(shown.get("f" + i)).isEqualTo(got.get("f" + i));
            assertThat(nulls.get("f" + i).isNull()).isTrue();
        }
        assertThat(got.get("data").asText()).isEqualTo("AQI=");
        assertThat(got.get("text").asText()).isEqualTo("text");
        assertThat(got.get("tensor").toString()).isEqualTo("[[1.0],[2.0]]");
        assertThat(nulls.get("text").isNull()).isTrue();
        assertThat(shown.get("data").toString()).isEqualTo("{\"bytes\":2}");
        assertThat(stoker("show", directory.toString(), "nulls", "--json")
                        .at("/0/text")
                        .isNull())
                .isTrue();
    }

    @Test
    void noTypeIsLeftOut() throws IOException {
        List<Field> fields = ChunkFixtures.ALL_TYPES;
        ChunkBuilder rows = ChunkFixtures.random(fields, 1, 0, new Random(1));
        AnyDataset.create(directory, "types", fields).append("train", rows);
        assertThat(Stoker.run(
                        List.of("show", directory.toString()), new PrintWriter(out, true), new PrintWriter(out, true)))
                .isZero();
        String key = out.toString().lines().skip(1).findFirst().orElseThrow().split("  ", 2)[0];
        JsonNode got = stoker("get", directory.toString(), key, "--json").get("fields");
        for (Field field : fields) {
            JsonNode value = got.get(field.name());
            assertThat(value).as(field.name()).isNotNull();
            if (!value.isNull()) {
                assertThat(value.isArray()).as("%s: %s", field, value).isEqualTo(isList(field.type()));
                assertThat(value.toString()).doesNotContain(" bytes\"", " items\"");
            }
        }
    }

    private static boolean isList(FieldType type) {
        return type instanceof ListType || type instanceof TensorType;
    }
}

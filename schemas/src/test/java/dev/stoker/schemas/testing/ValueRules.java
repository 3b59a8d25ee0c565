package dev.stoker.schemas.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.HalfFloats;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeText;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkFixtures;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The table {@code vectors/values.json}: one value has one meaning on every way into a dataset. Each case has a type, a
 * value in several forms, and what a field of the type stores. A form that a case does not have is in {@code not}, with
 * the reason, and so are the types that a way cannot take.
 */
public final class ValueRules {
    /** The only field. */
    public static final String FIELD = "x";

    /** Refuses a column whose type has no value that the field holds. */
    public static final String OF_TYPE = "does not hold";

    private static final JsonNode TABLE = table();

    private ValueRules() {}

    private static JsonNode table() {
        try (InputStream in = ValueRules.class.getResourceAsStream("/vectors/values.json")) {
            // A long text.
            return new JsonMapper()
                    .readTree(new String(in.readAllBytes(), StandardCharsets.UTF_8)
                            .replace("\\ue000", "a".repeat(1 << 16)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A case.
     *
     * @param number its line in the table
     * @param json the case
     */
    public record Case(int number, JsonNode json) {
        /** Returns the type of the field. */
        public FieldType type() {
            return FieldType.parse(json.get("type").textValue());
        }

        /** Returns the fields of a dataset with this field. */
        public List<Field> fields() {
            return List.of(Field.nullable(FIELD, type()));
        }

        /** Returns the value as text, in bytes. */
        public byte @Nullable [] text() {
            return json.has("hex")
                    ? HexFormat.of().parseHex(json.get("hex").textValue())
                    : json.has("text") ? json.get("text").textValue().getBytes(StandardCharsets.UTF_8) : null;
        }

        /** Returns the JSON object of a sample. */
        public byte @Nullable [] record() {
            if (json.has("record")) {
                return json.get("record").textValue().getBytes(StandardCharsets.UTF_8);
            }
            if (json.has("json")) {
                return ("{\"x\":" + json.get("json").textValue() + "}").getBytes(StandardCharsets.UTF_8);
            }
            if (!json.has("hex")) {
                return null;
            }
            // One character for each byte.
            String bytes = new String(Objects.requireNonNull(text()), StandardCharsets.ISO_8859_1);
            return ("{\"x\":\"" + bytes + "\"}").getBytes(StandardCharsets.ISO_8859_1);
        }

        /** Returns the type of the value in a source that has types. */
        public Optional<FieldType> given() {
            return json.has("typed")
                    ? Optional.of(FieldType.parse(json.at("/typed/type").textValue()))
                    : Optional.empty();
        }

        /** Returns the value in a source that has types: a bool, text, null or a list of these. */
        public JsonNode value() {
            return json.at("/typed/value");
        }

        /** Returns what is wrong with the outcome of a way, or nothing. */
        Optional<String> misfit(@Nullable Object stored, @Nullable String refusal) {
            if (json.has("refused")) {
                String word = json.get("refused").textValue();
                return refusal == null
                        ? Optional.of("expected a refusal, stored " + stored)
                        : refusal.toLowerCase(Locale.ROOT).contains(word.toLowerCase(Locale.ROOT))
                                        || refusal.contains(OF_TYPE)
                                ? Optional.empty()
                                : Optional.of("expected the word " + word + " in: " + refusal);
            }
            Object expected = expected(json.get("stored"));
            return refusal != null
                    ? Optional.of("expected " + expected + ", refused: " + refusal)
                    : Objects.equals(expected, stored)
                            ? Optional.empty()
                            : Optional.of("expected " + expected + ", stored " + stored);
        }

        private @Nullable Object expected(JsonNode node) {
            if (node.isNull()) {
                return null;
            }
            if (node.isArray()) {
                List<@Nullable Object> items = new ArrayList<>();
                node.forEach(item -> items.add(expected(item)));
                return items;
            }
            return item(type()).isFloat() ? Double.valueOf(node.textValue()) : node.textValue();
        }

        @Override
        public String toString() {
            return json.toString();
        }
    }

    /** A way into a dataset. */
    @FunctionalInterface
    public interface Way {
        /**
         * Sends a value.
         *
         * @return the stored value: see {@link #stored}
         * @throws Exception if the value is refused
         */
        @Nullable
        Object send(Case value) throws Exception;
    }

    /** Returns the cases that a way can express. The others have a reason in the table. */
    public static List<Case> of(String way) {
        JsonNode rule = Objects.requireNonNull(TABLE.get("ways").get(way), way);
        String form = rule.get("form").textValue();
        List<Case> cases = new ArrayList<>();
        for (Case each : all()) {
            boolean hasForm = form.equals("json")
                    ? each.record() != null
                    : form.equals("text") ? each.text() != null : each.given().isPresent();
            String type = each.json().get("type").textValue();
            String from = each.json().at("/typed/type").asText();
            boolean isCannot = cannot(rule.get("not"), type)
                    || cannot(rule.get("not"), type + " from " + from)
                    || cannot(rule.path("not_from"), from);
            if (!hasForm && !isCannot && !each.json().path("not").has(form)) {
                throw new AssertionError("the case " + each + " has no " + form + ", and no reason");
            }
            if (hasForm && !isCannot) {
                cases.add(each);
            }
        }
        return cases;
    }

    private static boolean cannot(JsonNode types, String type) {
        return types.properties().stream().anyMatch(entry -> type.matches(entry.getKey()));
    }

    private static List<Case> all() {
        List<Case> cases = new ArrayList<>();
        TABLE.get("cases").forEach(each -> cases.add(new Case(cases.size() + 1, each)));
        return cases;
    }

    /** Sends all cases that a way can express, and returns the ones with another outcome than the table. */
    public static List<String> disagreements(String way, Way sender) {
        return disagreements(way, of(way), sender);
    }

    /** Sends cases, and returns the ones with another outcome than the table. */
    public static List<String> disagreements(String way, List<Case> cases, Way sender) {
        List<String> found = new ArrayList<>();
        for (Case each : cases) {
            Object stored = null;
            String refusal = null;
            try {
                stored = sender.send(each);
            } catch (IllegalStateException | NullPointerException | ClassCastException e) {
                throw new AssertionError(way + ": " + each, e);
            } catch (Exception e) {
                refusal = Objects.requireNonNullElse(e.getMessage(), e.toString());
            }
            each.misfit(stored, refusal).ifPresent(problem -> found.add(way + ": " + each + ": " + problem));
        }
        return found;
    }

    /** Sets a field of the open row. */
    @FunctionalInterface
    public interface Setter {
        /** Sets the field. */
        void set(ChunkBuilder row) throws Exception;
    }

    /** Returns the value that a row of a chunk stores: text, Double, null or a list of these. */
    public static @Nullable Object stored(Case value, Setter setter) throws Exception {
        ChunkBuilder row = new ChunkBuilder(value.fields(), 4096);
        row.beginRow("k");
        setter.set(row);
        row.endRow();
        ByteBuffer file = ChunkFixtures.bytes(row.finish(ChunkFixtures.identity(1)));
        return stored(value, ChunkReader.open(new BufferRangeReader("chunk", file)), 0);
    }

    /** Returns the value that a row of a chunk stores. */
    public static @Nullable Object stored(Case value, ChunkHead head, int row) {
        return stored(value.type(), head, row);
    }

    /** Returns the value that a row of a chunk stores in the only field. */
    public static @Nullable Object stored(FieldType type, ChunkHead head, int row) {
        ArrowColumn column = head.column(0);
        if (column.isNull(row)) {
            return null;
        }
        if (type == ScalarType.CATEGORICAL) {
            return head.classes(0).get(column.intAt(row));
        }
        if (type == ScalarType.BOOL) {
            return Boolean.toString(column.booleanAt(row));
        }
        if (type instanceof DecimalType) {
            return column.decimalAt(row).toPlainString();
        }
        if (TimeText.isTime(type)) {
            return Long.toString(column.longAt(row));
        }
        FieldType item = type.items();
        if (item != null) {
            return items(column, item, row);
        }
        return of(type, column.bytesAt(row));
    }

    private static List<@Nullable Object> items(ArrowColumn column, FieldType item, int row) {
        List<@Nullable Object> items = new ArrayList<>();
        for (int i = 0; i < column.itemCount(row); i++) {
            items.add(column.isNullItem(row, i) ? null : of(item, column.itemAt(row, i)));
        }
        return items;
    }

    private static Object of(FieldType type, ByteBuffer value) {
        ByteBuffer bytes = value.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        if (type == ScalarType.UTF8) {
            return StandardCharsets.UTF_8.decode(bytes).toString();
        }
        if (type == ScalarType.BINARY) {
            byte[] copy = new byte[bytes.remaining()];
            bytes.get(copy);
            return HexFormat.of().formatHex(copy);
        }
        if (type instanceof ScalarType scalar) {
            return number(scalar, bytes);
        }
        List<Object> items = new ArrayList<>();
        while (bytes.hasRemaining()) {
            items.add(number(item(type), bytes));
        }
        return items;
    }

    private static ScalarType item(FieldType type) {
        return type instanceof ListType list
                ? list.element()
                : type instanceof TensorType tensor
                        ? tensor.element()
                        : type instanceof ScalarType scalar ? scalar : ScalarType.UTF8;
    }

    private static Object number(ScalarType type, ByteBuffer bytes) {
        return switch (type) {
            case INT8 -> Byte.toString(bytes.get());
            case UINT8 -> Integer.toString(bytes.get() & 0xFF);
            case INT16 -> Short.toString(bytes.getShort());
            case UINT16 -> Integer.toString(bytes.getShort() & 0xFFFF);
            case INT32 -> Integer.toString(bytes.getInt());
            case UINT32 -> Integer.toUnsignedString(bytes.getInt());
            case INT64 -> Long.toString(bytes.getLong());
            case UINT64 -> Long.toUnsignedString(bytes.getLong());
            case FLOAT16 -> HalfFloats.fromFloat16(bytes.getShort());
            case BFLOAT16 -> (double) Float.intBitsToFloat(bytes.getShort() << 16);
            case FLOAT32 -> (double) bytes.getFloat();
            case FLOAT64 -> bytes.getDouble();
            default -> throw new IllegalArgumentException(type + " is no number");
        };
    }
}

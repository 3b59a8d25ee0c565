package dev.stoker.formats;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.HalfFloats;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads files as rows of JSON values, for comparisons. */
public final class Rows {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private Rows() {}

    /** Returns a file in memory. */
    public static RangeReader file(String name, byte[] bytes) {
        return new BufferRangeReader(name, ByteBuffer.wrap(bytes));
    }

    /** Returns a text file in memory. */
    public static RangeReader file(String name, String text) {
        return file(name, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns a file of the test's resources. */
    public static RangeReader resource(String name) throws IOException {
        return file(name, bytes(name));
    }

    /** Returns the content of a file of the test's resources. */
    public static byte[] bytes(String name) throws IOException {
        try (var in = Rows.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException("no resource " + name);
            }
            return in.readAllBytes();
        }
    }

    /** Reads all columns of all rows. A value that is refused becomes its message. */
    public static List<String> read(RowFile file) throws IOException {
        List<String> rows = new ArrayList<>();
        nodes(file).forEach(row -> rows.add(row.toString()));
        return rows;
    }

    /** Reads all columns of all rows. */
    public static List<JsonNode> nodes(RowFile file) throws IOException {
        int[] all = new int[file.schema().columns().size()];
        Arrays.setAll(all, i -> i);
        List<JsonNode> rows = new ArrayList<>();
        for (RowPart part : file.parts()) {
            try (RowReader reader = file.read(part, all)) {
                while (reader.next()) {
                    rows.add(row(file, reader, all));
                }
            }
        }
        return rows;
    }

    /** Reads the selected columns of the current row. */
    public static ArrayNode row(RowFile file, RowReader reader, int[] columns) throws IOException {
        ArrayNode row = JSON.arrayNode();
        for (int i = 0; i < columns.length; i++) {
            Value value = new Value(file.schema().columns().get(columns[i]).type());
            try {
                reader.get(i, value);
                if (value.calls != 1) {
                    throw new AssertionError("the sink was called " + value.calls + " times");
                }
            } catch (BadValueException e) {
                value.node = JSON.textNode("refused: " + e.getMessage());
            }
            row.add(value.node);
        }
        return row;
    }

    /** Describes the columns: name, type, role. */
    public static List<List<String>> columns(RowFile file) {
        return file.schema().columns().stream()
                .map(column -> List.of(
                        column.name(), column.type().canonical(), column.role().name()))
                .toList();
    }

    /** Takes one value. */
    private static final class Value implements ValueSink {
        private final FieldType type;
        private JsonNode node;
        private int calls;

        private Value(FieldType type) {
            this.type = type;
        }

        private void set(JsonNode value) {
            calls++;
            node = value;
        }

        @Override
        public void setNull() {
            set(JSON.nullNode());
        }

        @Override
        public void setLong(long value) {
            set(
                    type == ScalarType.UINT64
                            ? JSON.numberNode(new BigInteger(Long.toUnsignedString(value)))
                            : JSON.numberNode(value));
        }

        @Override
        public void setDouble(double value) {
            set(JSON.numberNode(value));
        }

        @Override
        public void setDecimal(BigDecimal value) {
            set(JSON.textNode(value.toPlainString()));
        }

        @Override
        public void setBytes(ByteBuffer bytes) throws BadValueException {
            if (type instanceof ListType list && list.layout() == FieldType.Layout.LIST) {
                set(numbers(bytes, list.element()));
            } else if (type instanceof TensorType tensor) {
                if (bytes.remaining() != tensor.width()) {
                    throw new BadValueException(bytes.remaining() + " bytes are not " + tensor);
                }
                set(numbers(bytes, tensor.element()));
            } else {
                set(item(bytes, type));
            }
        }

        @Override
        public void setBytesList(List<ByteBuffer> items) throws BadValueException {
            ArrayNode list = JSON.arrayNode();
            for (ByteBuffer item : items) {
                list.add(item(item, ((ListType) type).item()));
            }
            set(list);
        }

        @Override
        public boolean takesNullItems() {
            return type.hasNullItems();
        }

        @Override
        public void setItems(List<? extends @Nullable ByteBuffer> items) throws BadValueException {
            ScalarType item = ((ListType) type).element();
            ArrayNode list = JSON.arrayNode();
            for (ByteBuffer bytes : items) {
                if (bytes == null) {
                    list.addNull();
                } else {
                    list.add(item.isNumber() ? numbers(bytes, item).get(0) : item(bytes, item));
                }
            }
            set(list);
        }

        @Override
        public void setLists(ByteBuffer items, int[] lengths) {
            ScalarType element = ((ListType) type).element();
            ArrayNode list = JSON.arrayNode();
            int at = items.position();
            for (int length : lengths) {
                list.add(numbers(items.slice(at, length * element.width()), element));
                at += length * element.width();
            }
            if (at != items.limit()) {
                throw new AssertionError("lists have " + at + " bytes of " + items.limit());
            }
            set(list);
        }

        private static JsonNode item(ByteBuffer bytes, FieldType type) throws BadValueException {
            byte[] copy = new byte[bytes.remaining()];
            bytes.duplicate().get(copy);
            if (type == ScalarType.UTF8 || type == ScalarType.CATEGORICAL) {
                String text = new String(copy, StandardCharsets.UTF_8);
                if (!Arrays.equals(text.getBytes(StandardCharsets.UTF_8), copy)) {
                    throw new BadValueException("not UTF-8");
                }
                return JSON.textNode(text);
            }
            return JSON.objectNode().put("hex", HexFormat.of().formatHex(copy));
        }

        private static ArrayNode numbers(ByteBuffer bytes, ScalarType type) {
            ByteBuffer in = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
            ArrayNode list = JSON.arrayNode();
            while (in.hasRemaining()) {
                switch (type) {
                    case INT8 -> list.add(in.get());
                    case INT16 -> list.add(in.getShort());
                    case INT32 -> list.add(in.getInt());
                    case UINT8 -> list.add(in.get() & 0xFF);
                    case UINT16 -> list.add(in.getShort() & 0xFFFF);
                    case UINT32 -> list.add(in.getInt() & 0xFFFFFFFFL);
                    case UINT64 -> list.add(new BigInteger(Long.toUnsignedString(in.getLong())));
                    case FLOAT16 -> list.add(HalfFloats.fromFloat16(in.getShort()));
                    case FLOAT32 -> list.add((double) in.getFloat());
                    case FLOAT64 -> list.add(in.getDouble());
                    default -> list.add(in.getLong());
                }
            }
            return list;
        }
    }
}

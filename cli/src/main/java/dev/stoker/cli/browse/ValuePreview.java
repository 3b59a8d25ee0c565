package dev.stoker.cli.browse;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeText;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.values.NumberBytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Makes short texts of values. Marks texts that it shortens. */
final class ValuePreview {

    /** Most characters of a text. */
    private final int characters;
    /** Most items of a list. */
    private final int items;

    ValuePreview(int characters, int items) {
        this.characters = characters;
        this.items = items;
    }

    /** Returns a small field: text, a number as text, a list of these, or null. */
    JsonNode of(ChunkHead head, int field, int row) {
        ArrowColumn column = head.column(field);
        FieldType type = column.field().type();
        JsonNodeFactory json = JsonNodeFactory.instance;
        if (column.isNull(row)) {
            return json.nullNode();
        }
        if (type == ScalarType.CATEGORICAL) {
            return json.textNode(cut(head.classes(field).get(column.intAt(row))));
        }
        if (type == ScalarType.BOOL) {
            return json.textNode(Boolean.toString(column.booleanAt(row)));
        }
        if (TimeText.isTime(type)) {
            return json.textNode(TimeText.format(type, column.longAt(row)));
        }
        if (type instanceof DecimalType) {
            return json.textNode(column.decimalAt(row).toPlainString());
        }
        FieldType item = type.items();
        if (item != null) {
            return list(column, item, row);
        }
        return value(type, column.bytesAt(row));
    }

    /** Returns the value of a payload field that is neither a picture nor sound. */
    JsonNode value(FieldType type, ByteBuffer bytes) {
        JsonNodeFactory json = JsonNodeFactory.instance;
        if (type == ScalarType.UTF8) {
            return json.textNode(text(bytes));
        }
        ScalarType numbers = type.numbers();
        if (numbers != null) {
            return numbers(numbers, bytes);
        }
        if (type instanceof ScalarType scalar && scalar.isNumber()) {
            return json.textNode(number(scalar, bytes, 0));
        }
        return json.textNode(hex(bytes));
    }

    private ArrayNode list(ArrowColumn column, FieldType type, int row) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        int count = column.itemCount(row);
        for (int i = 0; i < Math.min(items, count); i++) {
            if (column.isNullItem(row, i)) {
                array.addNull();
            } else {
                array.add(value(type, column.itemAt(row, i)));
            }
        }
        return mark(array, count);
    }

    private ArrayNode numbers(ScalarType type, ByteBuffer bytes) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        int count = bytes.remaining() / type.width();
        for (int i = 0; i < Math.min(items, count); i++) {
            array.add(number(type, bytes, i * type.width()));
        }
        return mark(array, count);
    }

    private ArrayNode mark(ArrayNode array, int count) {
        return count > items ? array.add("… " + (count - items) + " more") : array;
    }

    private static String number(ScalarType type, ByteBuffer values, int offset) {
        ByteBuffer bytes = values.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        return NumberBytes.textAt(type, bytes, values.position() + offset);
    }

    private String text(ByteBuffer bytes) {
        // A character has at most 4 bytes; one that is cut in the middle becomes a replacement character beyond the
        // cut.
        int most = (int) Math.min(bytes.remaining(), 4L * characters + 4);
        return cut(StandardCharsets.UTF_8
                .decode(bytes.slice(bytes.position(), most))
                .toString());
    }

    private String cut(String text) {
        if (text.length() <= characters) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(characters - 1)) ? characters - 1 : characters;
        return text.substring(0, end) + "…";
    }

    private static String hex(ByteBuffer bytes) {
        StringBuilder text = new StringBuilder();
        int shown = Math.min(64, bytes.remaining());
        for (int i = 0; i < shown; i++) {
            text.append(String.format(Locale.ROOT, i == 0 ? "%02x" : " %02x", bytes.get(bytes.position() + i)));
        }
        return text + (bytes.remaining() > shown ? " …" : "");
    }
}

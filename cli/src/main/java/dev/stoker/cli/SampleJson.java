package dev.stoker.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.DecimalType;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.arrow.NestedListType;
import dev.stoker.schemas.arrow.NullableListType;
import dev.stoker.schemas.arrow.ScalarType;
import dev.stoker.schemas.arrow.TimeText;
import dev.stoker.schemas.chunk.ChunkHead;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The values of samples, for people and as JSON. */
final class SampleJson {

    private SampleJson() {}

    /** Returns all fields of a sample. Payload is text if its type is, and else Base64. */
    static ObjectNode fields(ReadSample sample) {
        ObjectNode node = Json.object();
        for (int f = 0; f < sample.fields().size(); f++) {
            Field field = sample.fields().get(f);
            if (sample.isNull(f)) {
                node.putNull(field.name());
            } else if (field.payload()) {
                ByteBuffer payload = sample.content(f);
                byte[] bytes = new byte[payload.remaining()];
                payload.get(bytes);
                if (field.type() == ScalarType.UTF8) {
                    node.put(field.name(), new String(bytes, StandardCharsets.UTF_8));
                } else {
                    node.put(field.name(), bytes);
                }
            } else {
                int number = f;
                node.set(
                        field.name(),
                        Json.MAPPER.valueToTree(value(
                                sample.columns().apply(f),
                                () -> sample.classes().apply(number),
                                sample.row())));
            }
        }
        return node;
    }

    /** The value of a small field of a chunk; see {@link #value(ArrowColumn, Supplier, int)}. */
    static @Nullable Object value(ChunkHead chunk, int field, int row) {
        return value(chunk.column(field), () -> chunk.classes(field), row);
    }

    /** The value of a small field: text, number, boolean or list of texts, or a description of lists and bytes. */
    private static @Nullable Object value(ArrowColumn column, Supplier<List<String>> classes, int row) {
        FieldType type = column.field().type();
        if (column.isNull(row)) {
            return null;
        }
        if (type == ScalarType.CATEGORICAL) {
            return classes.get().get(column.intAt(row));
        }
        if (type == ScalarType.UTF8) {
            return column.stringAt(row);
        }
        if (type == ScalarType.BOOL) {
            return column.booleanAt(row);
        }
        if (type instanceof ScalarType scalar && scalar.isInteger()) {
            return type == ScalarType.UINT64 ? Long.toUnsignedString(column.longAt(row)) : column.longAt(row);
        }
        if (type instanceof ScalarType scalar && scalar.isFloat()) {
            return column.doubleAt(row);
        }
        if (TimeText.isTime(type)) {
            return TimeText.format(type, column.longAt(row));
        }
        if (type instanceof DecimalType) {
            return column.decimalAt(row).toPlainString();
        }
        boolean isList = type instanceof NestedListType || type instanceof NullableListType;
        if (isList) {
            return type.canonical().startsWith(ScalarType.UTF8.canonical())
                    ? texts(column, row)
                    : type.canonical() + " of " + column.itemCount(row) + " items";
        }
        return type.canonical() + " of " + column.valueLength(row) + " bytes";
    }

    private static List<@Nullable String> texts(ArrowColumn column, int row) {
        List<@Nullable String> texts = new ArrayList<>();
        for (int item = 0; item < column.itemCount(row); item++) {
            boolean isNull = column.isNullItem(row, item);
            texts.add(
                    isNull
                            ? null
                            : StandardCharsets.UTF_8
                                    .decode(column.itemAt(row, item))
                                    .toString());
        }
        return texts;
    }
}

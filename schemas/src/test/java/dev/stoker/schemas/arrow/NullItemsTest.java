package dev.stoker.schemas.arrow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists with null items, compared with lists of lists of bytes. */
class NullItemsTest {
    private static final int NULL_ROW = -1;

    private static ColumnBuilder column(String type) {
        return new ColumnBuilder(ArrowField.nullable("c", FieldType.parse(type)));
    }

    private static RecordBatchLayout layout(ColumnBuilder column) {
        return RecordBatchLayout.of(List.of(ScalarType.UTF8, column.field().type()), new boolean[2]);
    }

    private static ByteBuffer message(ColumnBuilder column) {
        ColumnBuilder keys = new ColumnBuilder(ArrowField.of(Field.KEY, ScalarType.UTF8));
        for (int row = 0; row < column.rows(); row++) {
            keys.appendString("k" + row);
        }
        RecordBatchLayout layout = layout(column);
        RecordBatchParts parts = new RecordBatchParts(layout, column.rows());
        parts.set(0, keys);
        parts.set(1, column);
        ByteBuffer message = ByteBuffer.allocate(layout.headLength() + (int) parts.bodyLength())
                .order(ByteOrder.LITTLE_ENDIAN);
        parts.writeSmall(message);
        return message.flip();
    }

    private static ArrowColumn read(ColumnBuilder column, ByteBuffer message) throws IOException {
        ArrowField field = column.field();
        Field small = new Field(field.name(), field.type(), field.nullable(), false);
        return BatchColumns.read(message, List.of(small), "t").get(1);
    }

    private static ArrowColumn read(ColumnBuilder column) throws IOException {
        return read(column, message(column));
    }

    /** Returns the items of a row, or null for a row without a value. */
    private static @Nullable List<@Nullable String> row(ArrowColumn column, int row) {
        if (column.isNull(row)) {
            assertThat(column.itemCount(row)).isZero();
            return null;
        }
        List<@Nullable String> items = new ArrayList<>();
        for (int item = 0; item < column.itemCount(row); item++) {
            ByteBuffer bytes = column.itemAt(row, item);
            if (column.isNullItem(row, item)) {
                int length = column.field().type().layout() == FieldType.Layout.LIST
                        ? column.field().type().width()
                        : 0;
                assertThat(bytes).as("a null item").isEqualTo(ByteBuffer.allocate(length));
            }
            items.add(column.isNullItem(row, item) ? null : text(bytes));
        }
        return items;
    }

    private static String text(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return Arrays.toString(copy);
    }

    private static void compare(ColumnBuilder column, List<@Nullable List<@Nullable String>> model) throws IOException {
        ArrowColumn found = read(column);
        assertThat(found.rows()).isEqualTo(model.size());
        for (int i = 0; i < model.size(); i++) {
            assertThat(row(found, i)).as("row %s", i).isEqualTo(model.get(i));
        }
    }

    private static @Nullable ByteBuffer item(ListType type, Random random) {
        int length = type.element().isNumber() ? type.width() : random.nextInt(4);
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) ('a' + random.nextInt(26));
        }
        return random.nextInt(3) == 0 ? null : ByteBuffer.wrap(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"int8?[]", "int32?[]", "bfloat16?[]", "uint64?[]", "float64?[]", "utf8?[]", "binary?[]"})
    void keepsEachItem(String text, TestInfo test) {
        ListType type = (ListType) FieldType.parse(text);
        Rounds.of(test).seconds(0.1).atLeast(30).run((random, round) -> {
            ColumnBuilder column = column(text);
            List<@Nullable List<@Nullable String>> model = new ArrayList<>();
            long stored = 0;
            for (int i = random.nextInt(40); i > 0; i--) {
                int count = random.nextInt(18) + NULL_ROW;
                if (count == NULL_ROW) {
                    column.appendNull();
                    model.add(null);
                    assertThat(column.lastLength()).isZero();
                } else {
                    List<@Nullable ByteBuffer> items = new ArrayList<>();
                    List<@Nullable String> texts = new ArrayList<>();
                    for (int k = 0; k < count; k++) {
                        ByteBuffer item = item(type, random);
                        items.add(item);
                        texts.add(item == null ? null : text(item));
                    }
                    column.appendItems(items);
                    model.add(texts);
                }
                stored += column.lastLength();
                if (random.nextInt(8) == 0) {
                    int rows = random.nextInt(model.size() + 1);
                    column.truncate(rows);
                    model.subList(rows, model.size()).clear();
                }
            }
            compare(column, model);
            ArrowColumn read = read(column);
            ColumnBuilder copy = column(text);
            List<@Nullable List<@Nullable String>> copied = new ArrayList<>();
            long copiedLength = 0;
            for (int row = model.size() - 1; row >= 0; row--) {
                copy.appendFrom(read, row);
                copied.add(model.get(row));
                assertThat(copy.lastLength()).isEqualTo(read.storedLength(row));
                copiedLength += copy.lastLength();
            }
            compare(copy, copied);
            assertThat(copiedLength).isLessThanOrEqualTo(stored);
        });
    }

    @Test
    void hasNoBitmapWithoutNullItems() throws IOException {
        ColumnBuilder column = column("int32?[]");
        column.appendBytes(new byte[8]);
        assertThat(column.byteLength()).isEqualTo(2 * 4 + 8);
        column.appendItems(Collections.singletonList(null));
        assertThat(column.byteLength()).isEqualTo(3 * 4 + 12 + 1);
        column.truncate(1);
        assertThat(column.byteLength()).isEqualTo(2 * 4 + 8);
        assertThat(read(column).isNullItem(0, 1)).isFalse();
    }

    @Test
    void refusesItemsThatDoNotFit() throws IOException {
        ColumnBuilder column = column("int32?[]");
        assertThatThrownBy(() -> column.appendItems(Arrays.asList(null, ByteBuffer.allocate(8))))
                .hasMessage("column c: 8 bytes are no item of type int32");
        ColumnBuilder texts = column("utf8[]");
        assertThatThrownBy(() -> texts.appendStrings(Arrays.asList("a", null)))
                .hasMessage("column c: an item is null, and items of utf8[] cannot be; the type utf8?[] can hold it");
        assertThatThrownBy(() -> column("utf8?[]").appendItems(List.of(ByteBuffer.wrap(new byte[] {(byte) 0xC0}))))
                .hasMessageContaining("not UTF-8");
        assertThat(read(column).rows()).isZero();
        assertThat(read(texts).rows()).isZero();
    }

    @Test
    void noticesAWrongNumberOfNullItems() throws IOException {
        ColumnBuilder column = column("int32?[]");
        column.appendItems(Arrays.asList(ByteBuffer.allocate(4), null, null));
        ByteBuffer message = message(column);
        int nulls = 8 + 96 + 16 * 2 + 8;
        assertThat(message.getLong(nulls)).isEqualTo(2);
        for (long wrong : new long[] {0, 1, 3, 4, -1, Long.MAX_VALUE}) {
            ByteBuffer bad = ByteBuffer.allocate(message.limit()).order(ByteOrder.LITTLE_ENDIAN);
            bad.put(message.duplicate()).flip().putLong(nulls, wrong);
            if (wrong == 0) {
                assertThat(read(column, bad).isNullItem(0, 1)).isFalse();
            } else {
                assertThatThrownBy(() -> read(column, bad)).isInstanceOf(CorruptDataException.class);
            }
        }
    }
}

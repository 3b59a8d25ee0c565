package dev.stoker.ingest.rows.pack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.types.FieldType;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RowBytesTest {
    /** Records the values. */
    private static final class Notes implements ValueSink {
        private final List<String> notes = new ArrayList<>();

        private static String hex(ByteBuffer bytes) {
            byte[] copy = new byte[bytes.remaining()];
            bytes.duplicate().get(copy);
            return Arrays.toString(copy);
        }

        @Override
        public void setNull() {
            notes.add("null");
        }

        @Override
        public void setLong(long value) {
            notes.add("long " + value);
        }

        @Override
        public void setDouble(double value) {
            notes.add("double " + Double.doubleToRawLongBits(value));
        }

        @Override
        public void setDecimal(BigDecimal value) {
            notes.add("decimal " + value);
        }

        @Override
        public void setBytes(ByteBuffer bytes) {
            notes.add("bytes " + hex(bytes));
        }

        @Override
        public void setBytesList(List<ByteBuffer> items) {
            notes.add("list " + items.stream().map(Notes::hex).toList());
        }

        @Override
        public boolean takesNullItems() {
            return true;
        }

        @Override
        public void setItems(List<? extends @Nullable ByteBuffer> items) {
            List<String> texts = new ArrayList<>();
            for (ByteBuffer item : items) {
                texts.add(item == null ? "null" : hex(item));
            }
            notes.add("items " + texts);
        }

        @Override
        public void setLists(ByteBuffer items, int[] lengths) {
            notes.add("lists " + hex(items) + Arrays.toString(lengths));
        }
    }

    private interface Values {
        void give(ValueSink sink) throws BadValueException;
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static void requireSame(RowBytes row, int values, Values given) throws BadValueException {
        Notes expected = new Notes();
        given.give(expected);
        row.begin();
        given.give(row);
        RowBytes.Reader reader = new RowBytes.Reader(ByteBuffer.wrap(row.take()));
        Notes found = new Notes();
        for (int i = 0; i < values; i++) {
            reader.next(found);
        }
        assertThat(found.notes).isEqualTo(expected.notes);
    }

    @Test
    void valuesComeBackAsTheyWere() throws BadValueException {
        RowBytes row = new RowBytes();
        for (int again = 0; again < 2; again++) {
            requireSame(row, 14, sink -> {
                sink.setNull();
                sink.setLong(Long.MIN_VALUE);
                sink.setLong(-1);
                sink.setDouble(-0.0);
                sink.setDouble(Double.NaN);
                sink.setDecimal(new BigDecimal("-12345678901234567890.123"));
                sink.setBytes(bytes(""));
                sink.setBytes(bytes("ü\0x"));
                sink.setBytesList(List.of());
                sink.setBytesList(List.of(bytes("a"), bytes(""), bytes("bc")));
                sink.setItems(Arrays.asList(bytes("a"), null, bytes("")));
                sink.setItems(Collections.singletonList(null));
                sink.setLists(bytes(""), new int[0]);
                sink.setLists(bytes("abcd"), new int[] {0, 3, 1});
            });
        }
    }

    @Test
    void takesNullItemsOnlyForFieldsThatHoldThem() {
        RowBytes row = new RowBytes();
        assertThat(row.of(FieldType.parse("int32?[]")).takesNullItems()).isTrue();
        assertThat(row.of(FieldType.parse("int32[]")).takesNullItems()).isFalse();
    }

    @Test
    void aRowMayBeLargerThanTheBuffer() throws BadValueException {
        requireSame(new RowBytes(), 2, sink -> {
            sink.setBytes(ByteBuffer.wrap(new byte[1 << 20]));
            sink.setLong(7);
        });
    }

    @Test
    void theBufferIsReadFromItsPosition() throws BadValueException {
        ByteBuffer part = bytes("xxabyy").position(2).limit(4);
        requireSame(new RowBytes(), 1, sink -> sink.setBytes(part));
        assertThat(part.position()).isEqualTo(2);
    }
}

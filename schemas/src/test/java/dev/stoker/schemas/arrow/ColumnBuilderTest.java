package dev.stoker.schemas.arrow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.HalfFloats;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ColumnBuilderTest {
    private static ColumnBuilder column(String type) {
        return new ColumnBuilder(ArrowField.nullable("c", FieldType.parse(type)));
    }

    private static ArrowColumn read(ColumnBuilder column) throws IOException {
        ArrowField field = column.field();
        ColumnBuilder keys = new ColumnBuilder(ArrowField.of(Field.KEY, ScalarType.UTF8));
        for (int row = 0; row < column.rows(); row++) {
            keys.appendString("k" + row);
        }
        RecordBatchLayout layout = RecordBatchLayout.of(List.of(ScalarType.UTF8, field.type()), new boolean[2]);
        RecordBatchParts parts = new RecordBatchParts(layout, column.rows());
        parts.set(0, keys);
        parts.set(1, column);
        ByteBuffer message = ByteBuffer.allocate(layout.headLength() + (int) parts.bodyLength())
                .order(ByteOrder.LITTLE_ENDIAN);
        parts.writeSmall(message);
        Field small = new Field(field.name(), field.type(), field.nullable(), false);
        return BatchColumns.read(message.flip(), List.of(small), "t").get(1);
    }

    @ParameterizedTest
    @CsvSource({
        "bool,0,1",
        "int8,-128,127",
        "int16,-32768,32767",
        "int32,-2147483648,2147483647",
        "uint8,0,255",
        "uint16,0,65535",
        "uint32,0,4294967295",
        "int64,-9223372036854775808,9223372036854775807",
        "categorical,0,2147483647",
        "date,-2147483648,2147483647",
        "time[s],0,86399",
        "time[ms],0,86399999",
        "time[us],0,86399999999",
        "time[ns],0,86399999999999"
    })
    void keepsTheEndsOfARangeAndRefusesWhatLiesBeyond(String type, long least, long greatest) throws IOException {
        ColumnBuilder column = column(type);
        column.appendLong(least);
        column.appendLong(greatest);
        if (!type.equals("int64")) {
            assertThatThrownBy(() -> column.appendLong(greatest + 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("column c")
                    .hasMessageContaining(String.valueOf(greatest));
        }
        ArrowColumn read = read(column);
        assertThat(read.rows()).isEqualTo(2);
        assertThat(read.longAt(0)).isEqualTo(least);
        assertThat(read.longAt(1)).isEqualTo(greatest);
    }

    @Test
    void keepsTheEndsOfATimestamp() throws IOException {
        ColumnBuilder column = column("timestamp[ns,UTC]");
        column.appendLong(Long.MIN_VALUE);
        column.appendNull();
        column.appendLong(Long.MAX_VALUE);
        ArrowColumn read = read(column);
        assertThat(read.longAt(0)).isEqualTo(Long.MIN_VALUE);
        assertThat(read.isNull(1)).isTrue();
        assertThat(read.longAt(2)).isEqualTo(Long.MAX_VALUE);
        assertThatThrownBy(() -> read.doubleAt(0)).hasMessageContaining("timestamp[ns,UTC]");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 9, 18, 19, 20, 37, 38})
    void keepsTheEndsOfADecimalAndRefusesWhatLiesBeyond(int digits) throws IOException {
        ColumnBuilder column = column("decimal(" + digits + ",1)");
        BigInteger limit = BigInteger.TEN.pow(digits);
        BigDecimal greatest = new BigDecimal(limit.subtract(BigInteger.ONE), 1);
        List<BigDecimal> values = List.of(
                greatest, greatest.negate(), new BigDecimal("0.0"), new BigDecimal("-0.1"), new BigDecimal("0.1"));
        values.forEach(column::appendDecimal);
        for (BigDecimal beyond : List.of(new BigDecimal(limit, 1), new BigDecimal(limit, 1).negate())) {
            assertThatThrownBy(() -> column.appendDecimal(beyond))
                    .hasMessageContaining("column c")
                    .hasMessageContaining(beyond.toString())
                    .hasMessageContaining("decimal(" + digits + ",1)");
            assertThatThrownBy(() -> column.appendBytes(littleEndian(beyond.unscaledValue())))
                    .hasMessageContaining("column c")
                    .hasMessageContaining(beyond.unscaledValue().toString());
        }
        for (BigDecimal value : values) {
            column.appendBytes(littleEndian(value.unscaledValue()));
        }
        ArrowColumn read = read(column);
        for (int row = 0; row < 2 * values.size(); row++) {
            assertThat(read.decimalAt(row)).isEqualTo(values.get(row % values.size()));
        }
    }

    private static byte[] littleEndian(BigInteger value) {
        byte[] bytes = new byte[16];
        Arrays.fill(bytes, (byte) value.signum() < 0 ? (byte) 0xFF : 0);
        byte[] bigEndian = value.toByteArray();
        for (int i = 0; i < bigEndian.length; i++) {
            bytes[i] = bigEndian[bigEndian.length - 1 - i];
        }
        return bytes;
    }

    @Test
    void refusesDecimalsThatNeedRounding() throws IOException {
        ColumnBuilder column = column("decimal(5,2)");
        assertThatThrownBy(() -> column.appendDecimal(new BigDecimal("1.234")))
                .hasMessage("column c: 1.234 is not a number of at most 3 digits before and 2 behind the decimal point,"
                        + " the range of decimal(5,2)");
        assertThatThrownBy(() -> column.appendDecimal(new BigDecimal("1e999999999")))
                .hasMessageContaining("1E+");
        assertThatThrownBy(() -> column.appendDecimal(new BigDecimal("1e-999999999")))
                .hasMessageContaining("1E-");
        assertThatThrownBy(() -> column.appendBytes(
                        littleEndian(BigInteger.ONE.shiftLeft(127).negate())))
                .hasMessageContaining("more than 5 digits");
        column.appendDecimal(new BigDecimal("1.2300"));
        column.appendDecimal(new BigDecimal("1e2"));
        column.appendDecimal(new BigDecimal("0e999999999"));
        ArrowColumn read = read(column);
        assertThat(read.decimalAt(0)).isEqualTo(new BigDecimal("1.23"));
        assertThat(read.decimalAt(1)).isEqualTo(new BigDecimal("100.00"));
        assertThat(read.decimalAt(2)).isEqualTo(new BigDecimal("0.00"));
    }

    @ParameterizedTest
    @CsvSource({
        "float16,65519.99,65504,65520",
        "bfloat16,3.3895e38,3.3895313892515355e38,3.4e38",
        "float32,3.4028235e38,3.4028234663852886e38,1e300",
        "float64,1e300,1e300,"
    })
    void aFiniteNumberDoesNotBecomeInfinite(String type, double largest, double stored, Double tooLarge)
            throws IOException {
        ColumnBuilder column = column(type);
        column.appendDouble(largest);
        column.appendDouble(Double.POSITIVE_INFINITY);
        column.appendDouble(Double.NaN);
        if (tooLarge != null) {
            for (double value : new double[] {tooLarge, -tooLarge}) {
                assertThatThrownBy(() -> column.appendDouble(value))
                        .hasMessage("column c: " + value + " is too large for a " + type);
            }
        }
        ArrowColumn read = read(column);
        assertThat(read.rows()).isEqualTo(3);
        assertThat(read.doubleAt(0)).isEqualTo(stored);
        assertThat(read.doubleAt(1)).isEqualTo(Double.POSITIVE_INFINITY);
        assertThat(read.doubleAt(2)).isNaN();
    }

    @Test
    void keepsListsOfItems() throws IOException {
        ColumnBuilder column = column("utf8[]");
        column.appendStrings(List.of("a", "", "ö"));
        column.appendStrings(List.of());
        column.appendNull();
        column.appendStrings(List.of("bc"));
        assertThat(column.lastLength()).isEqualTo(6);
        ArrowColumn read = read(column);
        assertThat(read.itemCount(0)).isEqualTo(3);
        assertThat(StandardCharsets.UTF_8.decode(read.itemAt(0, 2)).toString()).isEqualTo("ö");
        assertThat(read.valueLength(0)).isEqualTo(3);
        assertThat(read.storedLength(0)).isEqualTo(15);
        assertThat(read.itemEnd(0, 1)).isEqualTo(1);
        assertThat(read.itemCount(1)).isZero();
        assertThat(read.isNull(2)).isTrue();
        assertThat(read.itemCount(2)).isZero();
        assertThat(StandardCharsets.UTF_8.decode(read.itemAt(3, 0)).toString()).isEqualTo("bc");
        assertThatThrownBy(() -> column.appendStrings(List.of("a", "\ud800"))).hasMessageContaining("surrogate");
        assertThatThrownBy(() -> column.appendItems(List.of(ByteBuffer.wrap(new byte[] {(byte) 0xC0}))))
                .hasMessageContaining("column c");
        assertThat(read(column).rows()).isEqualTo(4);
        ColumnBuilder copy = column("utf8[]");
        for (int row : new int[] {3, 2, 0, 1}) {
            copy.appendFrom(read, row);
        }
        assertThat(StandardCharsets.UTF_8.decode(read(copy).itemAt(2, 2)).toString())
                .isEqualTo("ö");
        copy.truncate(1);
        assertThat(read(copy).itemCount(0)).isEqualTo(1);
        copy.truncate(0);
        assertThat(read(copy).rows()).isZero();
    }

    @Test
    void refusesItemsOfAnotherLength() {
        ColumnBuilder column = column("int32[][]");
        assertThatThrownBy(() -> column.appendItems(List.of(ByteBuffer.allocate(8), ByteBuffer.allocate(7))))
                .hasMessage("column c: 7 bytes are no item of type int32[]");
        assertThat(column.rows()).isZero();
        assertThatThrownBy(() -> column.appendBytes(new byte[4])).hasMessageContaining("int32[][]");
        assertThatThrownBy(() -> column.appendStrings(List.of())).hasMessageContaining("int32[][]");
        assertThatThrownBy(() -> column("int32[]").appendItems(List.of())).hasMessageContaining("int32[]");
    }

    @Test
    void refusesValuesOfAnotherKind() {
        assertThatThrownBy(() -> column("utf8").appendLong(1)).hasMessageContaining("utf8");
        assertThatThrownBy(() -> column("int32").appendDouble(1)).hasMessageContaining("int32");
        assertThatThrownBy(() -> column("int32").appendString("1")).hasMessageContaining("int32");
        assertThatThrownBy(() -> column("float64").appendLong(1)).hasMessageContaining("float64");
        assertThatThrownBy(() -> column("int64[]").appendInts(1)).hasMessageContaining("int64[]");
        assertThatThrownBy(() -> column("int64[]").appendBytes(new byte[9])).hasMessageContaining("9 bytes");
        assertThatThrownBy(() -> column("uint8[3]").appendBytes(new byte[2])).hasMessageContaining("2 bytes");
        assertThatThrownBy(() -> column("int32").appendBytes(new byte[4])).hasMessageContaining("int32");
        assertThatThrownBy(() -> new ColumnBuilder(ArrowField.of("c", ScalarType.INT8)).appendNull())
                .hasMessageContaining("not nullable");
    }

    @Test
    void refusesTextThatIsNotUnicode() {
        ColumnBuilder column = column("utf8");
        assertThatThrownBy(() -> column.appendString("a\ud800")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> column.appendBytes(new byte[] {(byte) 0xC0, (byte) 0x80}))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(column.rows()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"float16", "bfloat16", "float32", "float64"})
    void keepsNumbersThatFit(String type) throws IOException {
        double[] values = {0, -0.0, 1, -1.5, 0.25, 128, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.NaN};
        ColumnBuilder column = column(type);
        for (double value : values) {
            column.appendDouble(value);
        }
        ArrowColumn read = read(column);
        for (int row = 0; row < values.length; row++) {
            assertThat(read.doubleAt(row)).isEqualTo(Double.valueOf(values[row]));
        }
    }

    @Test
    void roundsHalvesToEven() {
        assertThat(HalfFloats.float16(65504)).isEqualTo((short) 0x7BFF);
        assertThat(HalfFloats.float16(65519.99)).isEqualTo((short) 0x7BFF);
        assertThat(HalfFloats.float16(65520)).isEqualTo((short) 0x7C00);
        assertThat(HalfFloats.float16(0x1p-24)).isEqualTo((short) 1);
        assertThat(HalfFloats.float16(0x1p-25)).isZero();
        assertThat(HalfFloats.float16(0x1.8p-24)).isEqualTo((short) 2);
        assertThat(HalfFloats.float16(1 + 0x1p-11)).isEqualTo((short) 0x3C00);
        assertThat(HalfFloats.float16(1 + 0x3p-11)).isEqualTo((short) 0x3C02);
        assertThat(HalfFloats.float16(2047.9999)).isEqualTo((short) 0x6800);
        assertThat(HalfFloats.float16(0x1.ff8p-15)).isEqualTo((short) 0x3FF);
        assertThat(HalfFloats.float16(0x1.fffp-15)).isEqualTo((short) 0x400);
        assertThat(HalfFloats.bfloat16(1 + 0x1p-8)).isEqualTo((short) 0x3F80);
        assertThat(HalfFloats.bfloat16(1 + 0x3p-8)).isEqualTo((short) 0x3F82);
        for (int bits = 0; bits < 0x10000; bits++) {
            double value = HalfFloats.fromFloat16((short) bits);
            if (!Double.isNaN(value)) {
                assertThat(HalfFloats.float16(value)).isEqualTo((short) bits);
            }
            double wide = HalfFloats.fromBfloat16((short) bits);
            if (!Double.isNaN(wide)) {
                assertThat(HalfFloats.bfloat16(wide)).isEqualTo((short) bits);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bool", "int32", "utf8", "int32[]", "uint8[3]"})
    void takesRowsBackAsIfTheyHadNeverBeen(String type, TestInfo test) {
        Rounds.of(test).seconds(0.1).atLeast(50).run((random, round) -> {
            int keep = random.nextInt(20);
            long seed = random.nextLong();
            ColumnBuilder straight = column(type);
            ColumnBuilder detour = column(type);
            append(straight, keep, new Random(seed));
            append(detour, keep, new Random(seed));
            append(detour, random.nextInt(20), random);
            detour.truncate(keep);
            append(straight, 5, new Random(seed));
            append(detour, 5, new Random(seed));
            for (int b = 0; b < straight.buffers().length; b++) {
                assertThat(detour.buffers()[b]).as("buffer %s", b).isEqualTo(straight.buffers()[b]);
            }
            assertThat(detour.nullCount()).isEqualTo(straight.nullCount());
            assertThat(read(detour).rows()).isEqualTo(keep + 5);
        });
    }

    private static void append(ColumnBuilder column, int rows, Random random) {
        for (int row = 0; row < rows; row++) {
            if (random.nextInt(3) == 0) {
                column.appendNull();
            } else {
                switch (column.field().type().canonical()) {
                    case "bool" -> column.appendBoolean(random.nextBoolean());
                    case "int32" -> column.appendLong(random.nextInt());
                    case "utf8" -> column.appendString("x".repeat(random.nextInt(3)));
                    case "int32[]" ->
                        column.appendInts(random.ints(random.nextInt(3)).toArray());
                    default -> column.appendBytes(new byte[] {1, 2, (byte) random.nextInt()});
                }
            }
        }
    }
}

package dev.stoker.schemas.values;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.arrow.types.ScalarType;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class NumberBytesTest {
    @ParameterizedTest
    @CsvSource({
        "INT8, -128, 127",
        "UINT8, 0, 255",
        "INT16, -32768, 32767",
        "UINT16, 0, 65535",
        "INT32, -2147483648, 2147483647",
        "UINT32, 0, 4294967295",
        "INT64, -9223372036854775808, 9223372036854775807",
        "UINT64, 0, 18446744073709551615",
        "DATE, -2147483648, 2147483647",
        "CATEGORICAL, -2147483648, 2147483647"
    })
    void keepsTheLeastAndTheGreatestInteger(ScalarType type, String least, String greatest) {
        assertThat(NumberBytes.text(type, NumberBytes.least(type))).isEqualTo(least);
        assertThat(NumberBytes.text(type, NumberBytes.greatest(type))).isEqualTo(greatest);
        for (String text : new String[] {least, greatest}) {
            ByteBuffer bytes = ByteBuffer.allocate(1 + type.width()).order(ByteOrder.LITTLE_ENDIAN);
            long value = new BigInteger(text).longValue();
            assertThat(NumberBytes.fits(type, value)).isTrue();

            NumberBytes.put(type, value, bytes.put((byte) 7));

            assertThat(bytes.hasRemaining()).isFalse();
            assertThat(NumberBytes.integerAt(type, bytes, 1)).isEqualTo(value);
            assertThat(NumberBytes.textAt(type, bytes, 1)).isEqualTo(text);
        }
        if (type.width() < 8) {
            assertThat(NumberBytes.fits(type, NumberBytes.least(type) - 1)).isFalse();
            assertThat(NumberBytes.fits(type, NumberBytes.greatest(type) + 1)).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16", "FLOAT32", "FLOAT64"})
    void keepsTheNearestFloatingPointNumber(ScalarType type) {
        for (double value : new double[] {0.1, -2.5, 0, -0.0, 1e-7, Double.NaN, Double.NEGATIVE_INFINITY}) {
            ByteBuffer bytes = ByteBuffer.allocate(type.width()).order(ByteOrder.LITTLE_ENDIAN);

            NumberBytes.put(type, NumberBytes.bits(type, value), bytes);

            Double nearest = type.nearest(value);
            assertThat((Double) NumberBytes.floatAt(type, bytes, 0)).isEqualTo(nearest);
            double read = Double.parseDouble(NumberBytes.textAt(type, bytes, 0));
            assertThat((Double) type.nearest(read)).isEqualTo(nearest);
        }
    }
}

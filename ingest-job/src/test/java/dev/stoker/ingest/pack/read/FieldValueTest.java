package dev.stoker.ingest.pack.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FieldValueTest {

    private static void set(String type, byte[] bytes) {
        ChunkBuilder builder = new ChunkBuilder(List.of(Field.small("f", FieldType.parse(type))), 4096);
        builder.beginRow("k");
        FieldValue.set(builder, 0, type, ByteBuffer.wrap(bytes));
        builder.endRow();
    }

    @ParameterizedTest
    @CsvSource({
        "int8, -128",
        "int8, 127",
        "uint8, 255",
        "int16, -32768",
        "uint16, 65535",
        "int32, -2147483648",
        "uint32, 4294967295",
        "int64, -9223372036854775808",
        "uint64, 18446744073709551615",
        "float32, 1.5e3",
        "float64, -0.25",
        "float32, Infinity",
        "float64, NaN",
        "bool, True",
        "bool, 0",
        "categorical, cat",
        "utf8, hello",
        "binary, x",
    })
    void takesWhatFits(String type, String text) {
        set(type, (" " + text + " \n").substring(type.equals("utf8") ? 1 : 0).getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource({
        "int8, 128, does not fit into int8",
        "uint8, -1, does not fit into uint8",
        "uint32, 4294967296, does not fit into uint32",
        "int32, 1.5, is not int32",
        "int64, x, is not int64",
        "uint64, -1, does not fit into uint64",
        "float32, one, is not float32",
        "float32, 1e300, is too large for a float32",
        "float64, 1e400, is too large for a float64",
        "float64, 9007199254740993, is not exactly a float64",
        "bool, maybe, is not bool",
    })
    void saysWhatDoesNotFit(String type, String text, String reason) {
        assertThatThrownBy(() -> set(type, text.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void refusesBrokenUtf8() {
        byte[] broken = {'a', (byte) 0xc3};

        assertThatThrownBy(() -> set("utf8", broken)).hasMessageContaining("not UTF-8");
        assertThatThrownBy(() -> set("categorical", broken)).hasMessageContaining("not UTF-8");
        assertThat(Utf8.isValid(ByteBuffer.wrap("k\u00e4se".getBytes(StandardCharsets.UTF_8))))
                .isTrue();
    }
}

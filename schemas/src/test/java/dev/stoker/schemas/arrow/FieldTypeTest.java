package dev.stoker.schemas.arrow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FieldTypeTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "bool",
                "int8",
                "int16",
                "int32",
                "int64",
                "uint8",
                "uint16",
                "uint32",
                "uint64",
                "float16",
                "float32",
                "float64",
                "bfloat16",
                "utf8",
                "binary",
                "categorical",
                "int32[]",
                "bfloat16[]",
                "float32[3,224,224]",
                "uint8[1]",
                "bfloat16[2,2]"
            })
    void printsWhatItParsed(String text) {
        FieldType type = FieldType.parse(text);
        assertThat(type.canonical()).isEqualTo(text);
        assertThat(type).hasToString(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "int",
                "INT32",
                "int32 ",
                "bool[]",
                "utf8[]",
                "categorical[]",
                "binary[3]",
                "int32[0]",
                "int32[-1]",
                "int32[1,]",
                "int32[,]",
                "int32[01]",
                "int32[1][2]",
                "int64[100000,100000]",
                "list<int32>",
                "fixed_size_binary(16)",
                "int32[9999999999]"
            })
    void refusesEverythingElse(String text) {
        assertThatThrownBy(() -> FieldType.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void saysWhichTypesThereAre() {
        assertThatThrownBy(() -> FieldType.parse("str"))
                .hasMessageContaining("'str'")
                .hasMessageContaining("utf8");
    }

    @Test
    void refusesItemsThatMayBeNullByName() {
        assertThatThrownBy(() -> FieldType.parse("int32?[]"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("items of lists and tensors cannot be null: 'int32?[]'; use 'int32[]'; the field itself may"
                        + " be nullable");
        assertThatThrownBy(() -> FieldType.parse("uint8?[2,3]")).hasMessageContaining("use 'uint8[2,3]'");
    }

    @Test
    void knowsWidths() {
        assertThat(FieldType.parse("float32[3,224,224]").width()).isEqualTo(4 * 3 * 224 * 224);
        assertThat(FieldType.parse("int16[]").width()).isEqualTo(2);
        assertThat(FieldType.parse("utf8").width()).isEqualTo(1);
    }

    @Test
    void agreesWithPythonOnFieldNames() throws IOException {
        JsonNode vectors;
        try (InputStream in = FieldTypeTest.class.getResourceAsStream("/vectors/field-names.json")) {
            vectors = new JsonMapper().readTree(in);
        }
        assertThat(vectors.get("good")).isNotEmpty();
        assertThat(vectors.get("bad")).isNotEmpty();
        vectors.get("good").forEach(name -> Field.small(name.textValue(), ScalarType.INT32));
        for (JsonNode bad : vectors.get("bad")) {
            assertThatThrownBy(() -> Field.small(bad.get("name").textValue(), ScalarType.INT32))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(bad.get("error").textValue());
        }
    }

    @Test
    void refusesPayloadOfFixedWidth() {
        assertThatThrownBy(() -> Field.payload("a", ScalarType.INT32)).hasMessageContaining("int32");
        assertThatThrownBy(() -> Field.small("a", new FixedBinaryType(4))).hasMessageContaining("fixed_size_binary");
        Field.payload("a", new TensorType(ScalarType.UINT8, List.of(2)));
    }
}

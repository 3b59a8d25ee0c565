package dev.stoker.schemas.arrow.types;

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
                "bfloat16[2,2]",
                "timestamp[s]",
                "timestamp[ms]",
                "timestamp[us]",
                "timestamp[ns]",
                "timestamp[us,Europe/Berlin]",
                "timestamp[s,UTC]",
                "timestamp[ns,America/Argentina/Buenos_Aires]",
                "timestamp[ns,Etc/GMT+5]",
                "timestamp[ms,-03:30]",
                "date",
                "time[s]",
                "time[ms]",
                "time[us]",
                "time[ns]",
                "decimal(1,0)",
                "decimal(38,38)",
                "decimal(10,2)",
                "utf8[]",
                "binary[]",
                "int32[][]",
                "bfloat16[][]",
                "float64[][]"
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
                "categorical[]",
                "date[]",
                "timestamp[us][]",
                "decimal(3,1)[]",
                "utf8[][]",
                "int32[][][]",
                "int32[2][]",
                "int32[][2]",
                "timestamp",
                "timestamp[]",
                "timestamp[m]",
                "timestamp[us,]",
                "timestamp[us,Europe/]",
                "timestamp[us, UTC]",
                "timestamp[us,+2:00]",
                "timestamp[us,+24:00]",
                "date[s]",
                "time",
                "time[us,UTC]",
                "decimal",
                "decimal(0,0)",
                "decimal(39,0)",
                "decimal(3,4)",
                "decimal(03,1)",
                "decimal(3, 1)",
                "decimal256(3,1)",
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
    void refusesNullItemsOfTensorsAndNestedListsByName() {
        assertThatThrownBy(() -> FieldType.parse("uint8?[2,3]"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("items of tensors and of nested lists cannot be null: 'uint8?[2,3]'; use 'uint8[2,3]'; the"
                        + " field itself may be nullable");
        assertThatThrownBy(() -> FieldType.parse("int32?[][]")).hasMessageContaining("use 'int32[][]'");
        assertThatThrownBy(() -> FieldType.parse("bool?[]"))
                .hasMessage("lists of bool with null items do not exist; items are numbers, utf8 or binary");
    }

    @ParameterizedTest
    @ValueSource(strings = {"int8?[]", "uint64?[]", "bfloat16?[]", "float64?[]", "utf8?[]", "binary?[]"})
    void listsMayHaveNullItems(String text) {
        FieldType type = FieldType.parse(text);

        assertThat(type).isInstanceOf(ListType.class).hasToString(text);
        assertThat(type.hasNullItems()).isTrue();
        assertThat(type.mayBePayload()).isFalse();
        assertThat(((ListType) type).withoutNulls()).hasToString(text.replace("?", ""));
        assertThatThrownBy(() -> Field.payload("x", type)).hasMessageContaining("make it a small field");
    }

    @Test
    void refusesDecimalsOf256BitsByName() {
        assertThatThrownBy(() -> FieldType.parse("decimal256(50,2)"))
                .hasMessage("decimal256 is not supported: 'decimal256(50,2)'; use decimal(p,s) with at most 38 digits,"
                        + " or utf8");
        assertThatThrownBy(() -> FieldType.parse("decimal(40,2)")).hasMessageContaining("1 to 38 digits, not 40");
        assertThatThrownBy(() -> FieldType.parse("int32[]?[]")).hasMessageContaining("use 'int32[][]'");
        assertThatThrownBy(() -> FieldType.parse("timestamp[us," + "A".repeat(65) + "]"))
                .hasMessageContaining("1 to 64 characters");
    }

    @Test
    void refusesListsOfListsAsPayload() {
        for (String type : List.of("utf8[]", "binary[]", "int32[][]")) {
            assertThatThrownBy(() -> Field.payload("a", FieldType.parse(type)))
                    .hasMessage("field 'a' of type " + type
                            + " cannot be payload; a row of it is not one run of bytes; make it a small field");
        }
        assertThatThrownBy(() -> Field.payload("a", FieldType.parse("date"))).hasMessageContaining("only utf8");
    }

    @Test
    void knowsWidths() {
        assertThat(FieldType.parse("timestamp[s]").width()).isEqualTo(8);
        assertThat(FieldType.parse("date").width()).isEqualTo(4);
        assertThat(FieldType.parse("time[ms]").width()).isEqualTo(4);
        assertThat(FieldType.parse("time[us]").width()).isEqualTo(8);
        assertThat(FieldType.parse("decimal(1,0)").width()).isEqualTo(16);
        assertThat(FieldType.parse("int16[][]").width()).isEqualTo(2);
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

package dev.stoker.metadata.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.table.ChunkTable;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ContentFieldTest {

    private static final SampleStat STAT = new SampleStat("k", "train", 0, 0, 100, 7);

    private static final ChunkTable TABLE = ChunkTable.empty(new UUID(0, 1));

    private static Field small(String name, String type) {
        return Field.small(name, FieldType.parse(type));
    }

    private static Field payload(String name) {
        return Field.payload(name, FieldType.parse("binary"));
    }

    private static ContentField choose(String name, Field... fields) {
        return ContentField.choose("data/photos", List.of(fields), name, "--field");
    }

    @Test
    void theUsualFieldIsTheOnlyPayloadOrElseTheOnlyBytesOrText() {
        assertThat(choose(null, small("text", "utf8"), payload("image")).name()).isEqualTo("image");
        assertThat(choose(null, small("n", "int32"), small("text", "utf8")).index())
                .isEqualTo(1);
        assertThat(choose("text", small("text", "utf8"), payload("image")).name())
                .isEqualTo("text");
    }

    @Test
    void messagesNameTheFieldsAndTheOption() {
        assertThatThrownBy(() -> choose(null, payload("a"), payload("b"), small("c", "utf8")))
                .hasMessage("data/photos has several fields of bytes or text; choose one of a, b, c with --field");
        assertThatThrownBy(() -> choose("n", payload("a"), small("n", "int32")))
                .hasMessage("data/photos has no field n of bytes or text; choose a with --field; stoker get"
                        + " --json prints the"
                        + " other fields");
        assertThatThrownBy(() -> choose(null, small("n", "int32"), small("m", "int8[]")))
                .hasMessage("data/photos has no field of bytes or text, so its samples have no content; stoker get"
                        + " --json prints its fields n, m");
    }

    @Test
    void theIndexHasTheLengthIfTheOtherFieldsHaveAWidth() {
        Field[] fields = {small("n", "int32"), small("flag", "bool"), small("t", "timestamp[us]"), payload("image")};
        assertThat(choose(null, fields).length(STAT, TABLE)).hasValue(100 - 4 - 1 - 8);
        assertThat(choose("text", small("text", "utf8"), payload("image")).length(STAT, TABLE))
                .isEmpty();
        assertThat(choose(null, small("text", "utf8"), payload("image")).length(STAT, TABLE))
                .isEmpty();
        Field[] two = {payload("a"), payload("b")};
        assertThat(Arrays.stream(two).map(field -> choose(field.name(), two).length(STAT, TABLE)))
                .allSatisfy(length -> assertThat(length).isEmpty());
    }
}

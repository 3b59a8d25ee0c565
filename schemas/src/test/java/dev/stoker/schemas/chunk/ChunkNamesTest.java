package dev.stoker.schemas.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.errors.CorruptDataException;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ChunkNamesTest {
    @Test
    void makesUuidsOfVersion7WithTheTimeInFront() {
        UUID id = ChunkNames.newId(0x0193A1B2C3D4L, new Random(1));
        assertThat(id.version()).isEqualTo(7);
        assertThat(id.variant()).isEqualTo(2);
        assertThat(id.toString()).startsWith("0193a1b2-c3d4-7");
        assertThat(id).isNotEqualTo(ChunkNames.newId(0x0193A1B2C3D4L, new Random(2)));
    }

    @Test
    void findsTheIdOfAPathAndOfNoOther() {
        UUID id = UUID.fromString("0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f40ab");
        String path = ChunkNames.path(id);
        assertThat(path).isEqualTo("chunks/ab/0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f40ab.arrow");
        assertThat(ChunkNames.idOf(path)).contains(id);
        for (String other : List.of(
                path + ".tmp",
                path.replace("/ab/", "/ac/"),
                path.toUpperCase(Locale.ROOT),
                path.substring(7),
                "chunks/ab/x.arrow",
                path.replace("7e5f", "7g5f"))) {
            assertThat(ChunkNames.idOf(other)).as(other).isEmpty();
        }
    }

    @Test
    void writesJsonAsPythonDoes() throws Exception {
        List<String> names = List.of("", "a\"b\\c", "\b\f\n\r\t\u0001\u001f\u007f/", "ä漢😀");
        String json = JsonText.array(names);
        assertThat(json).isEqualTo("[\"\",\"a\\\"b\\\\c\",\"\\b\\f\\n\\r\\t\\u0001\\u001f\u007f/\",\"ä漢😀\"]");
        assertThat(JsonText.parseArray(json, "names", "f")).isEqualTo(names);
        for (String other : List.of("", "[", "{}", "[1]", "\"a\"", "null")) {
            assertThatThrownBy(() -> JsonText.parseArray(other, "names", "f"))
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining("names");
        }
    }
}

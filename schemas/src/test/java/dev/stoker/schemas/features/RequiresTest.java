package dev.stoker.schemas.features;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RequiresTest {
    private static final JsonMapper JSON = new JsonMapper();

    @Test
    void agreesWithPythonOnEveryList() throws IOException {
        JsonNode vectors;
        try (InputStream in = RequiresTest.class.getResourceAsStream("/vectors/requires.json")) {
            vectors = JSON.readTree(in);
        }
        Set<String> known = new HashSet<>();
        vectors.get("known").forEach(name -> known.add(name.textValue()));
        assertThat(vectors.get("lists")).isNotEmpty();
        for (JsonNode vector : vectors.get("lists")) {
            JsonNode list = vector.get("requires");
            JsonNode error = vector.get("error");
            if (error.isNull()) {
                assertThatCode(() -> Requires.check(list, "here", known))
                        .as(list.toString())
                        .doesNotThrowAnyException();
            } else {
                boolean isTooNew = error.textValue().startsWith("here needs");
                assertThatThrownBy(() -> Requires.check(list, "here", known))
                        .as(list.toString())
                        .isInstanceOf(isTooNew ? FormatTooNewException.class : IllegalArgumentException.class)
                        .hasMessage(error.textValue());
            }
        }
    }

    @Test
    void aContainerWithoutTheListRequiresNothing() {
        assertThatCode(() -> Requires.check(JSON.createObjectNode(), "here")).doesNotThrowAnyException();
        assertThatCode(() -> Requires.check(Map.of("stoker.format", "1"), "here"))
                .doesNotThrowAnyException();
    }

    @Test
    void theTextInMetadataIsJson() {
        for (String text : new String[] {"", "overlays", "[\"overlays\"", "[\"overlays\"]]", "[]"}) {
            assertThatThrownBy(() -> Requires.check(Map.of("stoker.requires", text), "here"))
                    .as(text)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("requires is " + text + "; expected a sorted list of different feature names");
        }
        assertThatThrownBy(() -> Requires.check(Map.of("stoker.requires", "[\"overlays\"]"), "here"))
                .isInstanceOf(FormatTooNewException.class);
    }
}

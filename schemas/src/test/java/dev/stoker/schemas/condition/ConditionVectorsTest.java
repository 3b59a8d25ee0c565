package dev.stoker.schemas.condition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;

/** Holds the parser to {@code vectors/where.json}. {@code SelectionVectorsTest} uses its rows. */
class ConditionVectorsTest {

    private static JsonNode vectors() throws IOException {
        try (InputStream in = ConditionVectorsTest.class.getResourceAsStream("/vectors/where.json")) {
            return Json.STRICT.readTree(in);
        }
    }

    @Test
    void textsHaveTheirCanonicalTextOrAnErrorAtTheirCharacter() throws IOException {
        JsonNode texts = vectors().get("texts");
        assertThat(texts.size()).isGreaterThan(100);
        for (JsonNode each : texts) {
            String text = each.get("text").textValue();
            if (each.has("canonical")) {
                String canonical = each.get("canonical").textValue();
                assertThat(RowExpression.parse(text).canonical()).as(text).isEqualTo(canonical);
                assertThat(RowExpression.parse(canonical).canonical()).as(text).isEqualTo(canonical);
            } else {
                assertThatThrownBy(() -> RowExpression.parse(text))
                        .as(text)
                        .isInstanceOf(InvalidExpressionException.class)
                        .hasMessageMatching("(?s).*, at character " + each.get("error_at") + "[:,].*");
            }
        }
    }
}

package dev.stoker.schemas.json;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * The JSON mappers that all modules share. Never configure them further: a reader that needs other limits has its own
 * mapper.
 */
public final class Json {

    /** Rejects duplicate keys, and text after the value. */
    public static final JsonMapper STRICT = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    /** Has Jackson's default configuration. */
    public static final JsonMapper PLAIN = new JsonMapper();

    private Json() {}

    /** Returns a new empty object. */
    public static ObjectNode object() {
        return PLAIN.createObjectNode();
    }

    /** Returns a new empty array. */
    public static ArrayNode array() {
        return PLAIN.createArrayNode();
    }
}

package dev.stoker.schemas.protocol;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Reads a JSON object from a frame strictly: UTF-8, one value, no duplicate keys, bounded depth. A value of the wrong
 * type causes a {@link ProtocolException} that names the key. Unknown keys are ignored.
 */
final class JsonObject {
    private static final int MAX_DEPTH = 16;
    private static final int MAX_NUMBER = 24;
    private static final int SHOWN = 60;

    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .maxNumberLength(MAX_NUMBER)
                            .maxStringLength(Protocol.MAX_FROM_SERVER)
                            .build())
                    // Names come from peers. If they were interned, a peer could fill the process's tables.
                    .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                    .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final String where;
    private final JsonNode node;

    private JsonObject(String where, JsonNode node) {
        this.where = where;
        this.node = node;
    }

    /** Reads the rest of the buffer. */
    static JsonObject read(FrameType type, ByteBuffer bytes) throws ProtocolException {
        try {
            String text = StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
            return of(type.name(), JSON.readTree(text));
        } catch (CharacterCodingException e) {
            throw new ProtocolException(ErrorCode.BAD_FRAME, type + ": the text is not UTF-8", e);
        } catch (JsonProcessingException e) {
            throw new ProtocolException(
                    ErrorCode.BAD_FRAME, type + ": the text is not JSON: " + shown(e.getOriginalMessage()), e);
        }
    }

    private static JsonObject of(String where, JsonNode node) throws ProtocolException {
        if (node == null || !node.isObject()) {
            throw ProtocolException.badFrame(where + ": expected a JSON object");
        }
        return new JsonObject(where, node);
    }

    /** Returns the value of a key, or null if it is missing or null. */
    @Nullable
    JsonNode get(String key) {
        JsonNode value = node.get(key);
        return value == null || value.isNull() ? null : value;
    }

    JsonNode require(String key) throws ProtocolException {
        JsonNode value = get(key);
        if (value == null) {
            throw ProtocolException.badFrame(where + ": " + key + " is missing");
        }
        return value;
    }

    JsonObject object(String key) throws ProtocolException {
        return of(where + ": " + key, require(key));
    }

    Optional<String> optionalText(String key) throws ProtocolException {
        JsonNode value = get(key);
        return value == null ? Optional.empty() : Optional.of(text(key, value));
    }

    String text(String key) throws ProtocolException {
        return text(key, require(key));
    }

    String text(String key, JsonNode value) throws ProtocolException {
        if (!value.isTextual()) {
            throw wrong(key, value, "a text");
        }
        return value.textValue();
    }

    boolean flag(String key) throws ProtocolException {
        JsonNode value = require(key);
        if (!value.isBoolean()) {
            throw wrong(key, value, "true or false");
        }
        return value.booleanValue();
    }

    /** Returns a flag; false if it is missing. */
    boolean optionalFlag(String key) throws ProtocolException {
        return get(key) != null && flag(key);
    }

    /** Returns a whole number from 0 to {@code greatest}. */
    long number(String key, long greatest) throws ProtocolException {
        return number(key, require(key), greatest);
    }

    long number(String key, JsonNode value, long greatest) throws ProtocolException {
        if (!value.isIntegralNumber()
                || !value.canConvertToLong()
                || value.longValue() < 0
                || value.longValue() > greatest) {
            throw wrong(key, value, "a whole number from 0 to " + greatest);
        }
        return value.longValue();
    }

    int optionalInt(String key, int fallback) throws ProtocolException {
        JsonNode value = get(key);
        return value == null ? fallback : (int) number(key, value, Integer.MAX_VALUE);
    }

    /** Returns a whole number, if it is present. */
    OptionalLong optionalNumber(String key) throws ProtocolException {
        return get(key) == null ? OptionalLong.empty() : OptionalLong.of(number(key, Long.MAX_VALUE));
    }

    JsonNode array(String key) throws ProtocolException {
        return array(key, require(key));
    }

    JsonNode array(String key, JsonNode value) throws ProtocolException {
        if (!value.isArray()) {
            throw wrong(key, value, "an array");
        }
        return value;
    }

    JsonNode node() {
        return node;
    }

    JsonObject element(String key, JsonNode value) throws ProtocolException {
        return of(where + ": " + key, value);
    }

    ProtocolException wrong(String key, JsonNode value, String expected) {
        return ProtocolException.badFrame(where + ": " + key + " is " + shown(value) + ": expected " + expected);
    }

    private static String shown(JsonNode value) {
        return value.isContainerNode() ? (value.isArray() ? "an array" : "an object") : shown(value.toString());
    }

    private static String shown(String text) {
        return text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
    }

    static ObjectNode create() {
        return JSON.createObjectNode();
    }

    /** Parses a text that this module has written. */
    static JsonNode parse(String own) {
        try {
            return JSON.readTree(own);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("not JSON: " + own, e);
        }
    }

    static ByteBuffer bytes(JsonNode json) {
        try {
            return ByteBuffer.wrap(JSON.writeValueAsBytes(json));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of texts and numbers is always written", e);
        }
    }
}

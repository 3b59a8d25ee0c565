package dev.stoker.schemas.dataset;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.log.CanonicalUuid;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Reads the keys of a JSON object of a {@linkplain SealedJson file}. Each method throws {@link
 * IllegalArgumentException}, which names the key, if the key is missing or its value has another type.
 */
record JsonKeys(JsonNode json) {

    boolean has(String key) {
        return json.has(key);
    }

    String text(String key) {
        require(json.path(key).isTextual(), key + " is not text");
        return json.path(key).textValue();
    }

    UUID id(String key) {
        return CanonicalUuid.parse(text(key));
    }

    /** Returns a time; throws {@link java.time.DateTimeException} if the text is none. */
    Instant time(String key) {
        return SealedJson.time(text(key));
    }

    long number(String key) {
        return number(json.path(key), key);
    }

    boolean flag(String key) {
        require(json.path(key).isBoolean(), key + " is neither true nor false");
        return json.path(key).booleanValue();
    }

    /** Returns the texts of a list. */
    List<String> texts(String key) {
        List<String> texts = new ArrayList<>();
        for (JsonNode text : list(key)) {
            require(text.isTextual(), key + " contains something that is not text");
            texts.add(text.textValue());
        }
        return texts;
    }

    /**
     * Returns the numbers of a list.
     *
     * @param one what one of them is, for messages
     */
    List<Long> numbers(String key, String one) {
        List<Long> numbers = new ArrayList<>();
        for (JsonNode number : list(key)) {
            numbers.add(number(number, one));
        }
        return numbers;
    }

    /** Returns the objects of a list. */
    List<JsonKeys> objects(String key) {
        List<JsonKeys> objects = new ArrayList<>();
        list(key).forEach(object -> objects.add(new JsonKeys(object)));
        return objects;
    }

    private JsonNode list(String key) {
        require(json.path(key).isArray(), key + " is not a list");
        return json.path(key);
    }

    private static long number(JsonNode number, String what) {
        require(number.isIntegralNumber() && number.canConvertToLong(), what + " is not a number");
        return number.longValue();
    }

    static void require(boolean holds, String problem) {
        if (!holds) {
            throw new IllegalArgumentException(problem);
        }
    }
}

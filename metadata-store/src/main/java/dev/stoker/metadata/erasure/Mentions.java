package dev.stoker.metadata.erasure;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Says whether a JSON object of a dead letter or of a list of skipped samples names an erased key or class: as a whole
 * text, as Base64, between quotation marks, as the end of a path, or as a text of a JSON value in Base64. A class is
 * also named by a directory of a path. For one thread.
 */
final class Mentions {

    private static final Pattern QUOTED = Pattern.compile("'([^']*)'|\"([^\"]*)\"");

    private final KeyTest test;
    private final KeyTest names;
    private final KeyTest either;

    /**
     * @param test keys of samples
     * @param names class names. A whole text of the object itself is not compared with them: {@code "reason":"value"}
     *     says nothing about a class {@code value}
     */
    Mentions(KeyTest test, KeyTest names) {
        this.test = test;
        this.names = names;
        this.either = key -> test.isErased(key) || names.isErased(key);
    }

    /** Returns whether a line names an erased key or class. A line that is not JSON is compared as a whole. */
    boolean in(String line) {
        JsonNode json;
        try {
            json = Json.PLAIN.readTree(line);
        } catch (JsonProcessingException e) {
            return inText(line, "", either);
        }
        String position = json.path("position").isIntegralNumber()
                ? "#" + json.path("position").asText()
                : "";
        return in(json, position, test);
    }

    /** @param whole what a whole text is compared with */
    private boolean in(JsonNode json, String position, KeyTest whole) {
        if (json.isTextual()) {
            return inText(json.textValue(), position, whole) || inBase64(json.textValue());
        }
        for (JsonNode child : json) {
            if (in(child, position, whole)) {
                return true;
            }
        }
        return false;
    }

    private boolean inText(String text, String position, KeyTest whole) {
        if (whole.isErased(text)) {
            return true;
        }
        Matcher quoted = QUOTED.matcher(text);
        while (quoted.find()) {
            String part = quoted.group(1) == null ? quoted.group(2) : quoted.group(1);
            if (either.isErased(part)) {
                return true;
            }
        }
        return inPath(text, position);
    }

    private boolean inPath(String text, String position) {
        for (int slash = -1; ; ) {
            String end = text.substring(slash + 1);
            if (test.isErased(end) || (!position.isEmpty() && test.isErased(end + position))) {
                return true;
            }
            int next = text.indexOf('/', slash + 1);
            if (next < 0) {
                // The last part is a file, unless it is the only part.
                return slash >= 0 && names.isErased(end);
            }
            if (names.isErased(text.substring(slash + 1, next))) {
                return true;
            }
            slash = next;
        }
    }

    private boolean inBase64(String text) {
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            return false;
        }
        if (either.isErased(bytes)) {
            return true;
        }
        try {
            JsonNode json = Json.PLAIN.readTree(bytes);
            return json != null && json.isContainerNode() && in(json, "", either);
        } catch (IOException e) {
            return false;
        }
    }
}

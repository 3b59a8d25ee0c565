package dev.stoker.metadata.erasure;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Says whether a JSON object of a dead letter or of a list of skipped samples names an erased key: as a whole text, as
 * Base64, between quotation marks, as the end of a path, or as a text of a JSON value in Base64. For one thread.
 */
final class Mentions {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Pattern QUOTED = Pattern.compile("'([^']*)'|\"([^\"]*)\"");

    private final KeyTest test;

    Mentions(KeyTest test) {
        this.test = test;
    }

    /** Returns whether a line names an erased key. A line that is not JSON is compared as a whole. */
    boolean in(String line) {
        JsonNode json;
        try {
            json = MAPPER.readTree(line);
        } catch (JsonProcessingException e) {
            return inText(line, "");
        }
        String position = json.path("position").isIntegralNumber()
                ? "#" + json.path("position").asText()
                : "";
        return in(json, position);
    }

    private boolean in(JsonNode json, String position) {
        if (json.isTextual()) {
            return inText(json.textValue(), position) || inBase64(json.textValue());
        }
        for (JsonNode child : json) {
            if (in(child, position)) {
                return true;
            }
        }
        return false;
    }

    private boolean inText(String text, String position) {
        if (test.isErased(text)) {
            return true;
        }
        Matcher quoted = QUOTED.matcher(text);
        while (quoted.find()) {
            String part = quoted.group(1) == null ? quoted.group(2) : quoted.group(1);
            if (test.isErased(part)) {
                return true;
            }
        }
        for (int slash = -1; ; ) {
            String end = text.substring(slash + 1);
            if (test.isErased(end) || (!position.isEmpty() && test.isErased(end + position))) {
                return true;
            }
            slash = text.indexOf('/', slash + 1);
            if (slash < 0) {
                return false;
            }
        }
    }

    private boolean inBase64(String text) {
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            return false;
        }
        if (test.isErased(bytes)) {
            return true;
        }
        try {
            JsonNode json = MAPPER.readTree(bytes);
            return json != null && json.isContainerNode() && in(json, "");
        } catch (IOException e) {
            return false;
        }
    }
}

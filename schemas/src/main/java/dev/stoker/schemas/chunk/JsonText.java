package dev.stoker.schemas.chunk;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes arrays of strings as JSON, with exactly the bytes of Python's {@code json.dumps(…, separators=(",",":"),
 * ensure_ascii=False)}. (Jackson escapes control characters with upper-case digits.)
 */
public final class JsonText {

    private JsonText() {}

    /** Returns a JSON array of these strings. */
    public static String array(List<String> values) {
        StringBuilder out = new StringBuilder("[");
        for (String value : values) {
            if (out.length() > 1) {
                out.append(',');
            }
            quote(out, value);
        }
        return out.append(']').toString();
    }

    /** Returns a JSON string. */
    static String quoted(String value) {
        StringBuilder out = new StringBuilder();
        quote(out, value);
        return out.toString();
    }

    static List<String> parseArray(String json, String what, String file) throws CorruptDataException {
        try {
            JsonNode tree = Json.PLAIN.readTree(json);
            List<String> values = new ArrayList<>();
            for (JsonNode value : tree) {
                if (!value.isTextual()) {
                    throw CorruptDataException.mismatch(file, what, "an array of strings", json);
                }
                values.add(value.textValue());
            }
            if (!tree.isArray()) {
                throw CorruptDataException.mismatch(file, what, "an array of strings", json);
            }
            return List.copyOf(values);
        } catch (CorruptDataException e) {
            throw e;
        } catch (IOException e) {
            throw new CorruptDataException(
                    file + " is corrupt: " + what + " is no JSON: " + json + "; restore the file from a copy", e);
        }
    }

    private static void quote(StringBuilder out, String value) {
        out.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < ' ') {
                        out.append("\\u00").append(c < 0x10 ? '0' : '1').append(Character.forDigit(c & 15, 16));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}

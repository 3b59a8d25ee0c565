package dev.stoker.schemas.features;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Checks the list of features that a container requires of its reader. A container without the list requires none. The
 * list is sorted, names each feature once, and is never empty. Normative: "Features" in
 * {@code docs/formats/dataset.md}.
 */
public final class Requires {
    /** Key of the list in JSON. */
    public static final String KEY = "requires";

    /** Key of the list in the metadata of Arrow and Avro files, where it is the text of a JSON array. */
    public static final String METADATA_KEY = "stoker.requires";

    /** The features that this release knows. None has been introduced. */
    private static final Set<String> KNOWN = Set.of();

    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_.-]{0,63}");

    private Requires() {}

    /**
     * Checks the list of a JSON container.
     *
     * @param container its content
     * @param what the container's name as the user knows it
     * @throws FormatTooNewException if this release does not know a feature
     * @throws IllegalArgumentException if it is not such a list
     */
    public static void check(JsonNode container, String what) throws FormatTooNewException {
        check(container.path(KEY), what, KNOWN);
    }

    /**
     * Checks the list in the metadata of an Arrow or Avro file.
     *
     * @param metadata all metadata of the file
     * @param what the file's name as the user knows it
     * @throws FormatTooNewException if this release does not know a feature
     * @throws IllegalArgumentException if it is not such a list
     */
    public static void check(Map<String, String> metadata, String what) throws FormatTooNewException {
        String text = metadata.get(METADATA_KEY);
        if (text != null) {
            check(parse(text), what, KNOWN);
        }
    }

    private static JsonNode parse(String text) {
        try {
            JsonNode list = Json.STRICT.readTree(text);
            if (!list.isMissingNode()) {
                return list;
            }
        } catch (JsonProcessingException e) {
            // The exception below shows the text.
        }
        throw malformed(text);
    }

    static void check(JsonNode list, String what, Set<String> known) throws FormatTooNewException {
        if (list.isMissingNode()) {
            return;
        }
        if (!list.isArray() || list.isEmpty()) {
            throw malformed(list.toString());
        }
        String before = "";
        List<String> unknown = new ArrayList<>();
        for (JsonNode feature : list) {
            String name = feature.asText();
            if (!feature.isTextual() || !NAME.matcher(name).matches() || name.compareTo(before) <= 0) {
                throw malformed(list.toString());
            }
            if (!known.contains(name)) {
                unknown.add(name);
            }
            before = name;
        }
        if (!unknown.isEmpty()) {
            throw new FormatTooNewException(what, unknown);
        }
    }

    private static IllegalArgumentException malformed(String found) {
        return new IllegalArgumentException(
                KEY + " is " + found + "; expected a sorted list of different feature names");
    }
}

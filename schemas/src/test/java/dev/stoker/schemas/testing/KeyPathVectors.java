package dev.stoker.schemas.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The table {@code vectors/key-paths.json}: keys, and the paths that they have wherever samples are files. */
public final class KeyPathVectors {

    private static final JsonNode TABLE = table();

    private KeyPathVectors() {}

    private static JsonNode table() {
        try (InputStream in = KeyPathVectors.class.getResourceAsStream("/vectors/key-paths.json")) {
            return new JsonMapper().readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the paths of keys of which none is a directory of another one. */
    public static Map<String, String> alone() {
        return paths("alone");
    }

    /** Returns the paths of keys of one dataset, of which some are directories of others. */
    public static Map<String, String> beside() {
        return paths("beside");
    }

    private static Map<String, String> paths(String set) {
        Map<String, String> paths = new LinkedHashMap<>();
        TABLE.get(set)
                .forEach(each ->
                        paths.put(each.get("key").textValue(), each.get("path").textValue()));
        return paths;
    }

    /** Returns texts that are the paths of no key. */
    public static List<String> none() {
        List<String> texts = new ArrayList<>();
        TABLE.get("none").forEach(each -> texts.add(each.textValue()));
        return texts;
    }
}

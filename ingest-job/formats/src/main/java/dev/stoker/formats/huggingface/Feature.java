package dev.stoker.formats.huggingface;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The feature of a column, as the metadata {@code huggingface} of a Parquet file or Arrow schema has it:
 *
 * <pre>
 * {"info": {"features": {"image": {"_type": "Image"}, "label": {"_type": "ClassLabel", "names": ["cat", "dog"]}}}}
 * </pre>
 *
 * @param type the name of its type, such as {@code Image}; {@code ""} for a struct, and for a column without a feature
 * @param names the names of the classes of a {@code ClassLabel}
 * @param fields the features of the fields of a struct
 * @param item the feature of the items of a list, or null
 */
public record Feature(
        String type,
        List<String> names,
        Map<String, Feature> fields,
        @Nullable Feature item) {
    /** The key of the metadata. */
    public static final String METADATA_KEY = "huggingface";

    /** The feature of a column of which nothing is known. */
    public static final Feature NONE = new Feature("", List.of(), Map.of(), null);

    private static final ObjectMapper JSON = new JsonMapper(JsonFactory.builder()
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(200).build())
            .build());

    private static final Set<String> FILES = Set.of("Image", "Audio", "Video", "Pdf", "Nifti");

    /**
     * Returns the features of the columns as the fields of a struct.
     *
     * @param json the value of the metadata, or null if there is none
     * @return {@link #NONE} if the text says nothing about columns
     * @throws IOException if the text is not JSON: images would become structs, and classes numbers
     */
    public static Feature parse(@Nullable String json) throws IOException {
        if (json == null) {
            return NONE;
        }
        try {
            return struct(JSON.readTree(json).path("info").path("features"));
        } catch (JsonProcessingException e) {
            throw new IOException(
                    "its metadata " + METADATA_KEY + " is not JSON; write the file again, or without this metadata", e);
        }
    }

    /** Returns the feature of a field of a struct. */
    public Feature field(String name) {
        return fields.getOrDefault(name, NONE);
    }

    /** Returns the feature of the items of a list. */
    public Feature items() {
        return item == null ? NONE : item;
    }

    /** Returns whether values are files: a struct of bytes and path. */
    public boolean isFile() {
        return FILES.contains(type);
    }

    /** Returns whether values are numbers of classes. */
    public boolean isClassLabel() {
        return type.equals("ClassLabel") && !names.isEmpty();
    }

    private static Feature of(JsonNode node) {
        if (node.isArray() && node.size() == 1) {
            return new Feature("List", List.of(), Map.of(), of(node.get(0)));
        }
        JsonNode type = node.path("_type");
        if (!type.isTextual()) {
            return struct(node);
        }
        List<String> names = new ArrayList<>();
        for (JsonNode name : node.path("names")) {
            names.add(name.asText());
        }
        JsonNode item = node.path("feature");
        return new Feature(type.textValue(), List.copyOf(names), Map.of(), item.isMissingNode() ? null : of(item));
    }

    private static Feature struct(JsonNode node) {
        Map<String, Feature> fields = new LinkedHashMap<>();
        node.properties().forEach(field -> fields.put(field.getKey(), of(field.getValue())));
        return new Feature("", List.of(), fields, null);
    }
}

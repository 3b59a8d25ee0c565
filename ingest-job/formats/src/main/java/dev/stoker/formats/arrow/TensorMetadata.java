package dev.stoker.formats.arrow;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.json.Json;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The metadata of the extension {@code arrow.fixed_shape_tensor}: {@code {"shape":[3,4],"permutation":[0,1]}}. */
final class TensorMetadata {

    private TensorMetadata() {}

    /** Returns the shape, or an empty list if it is missing or the dimensions are permuted. */
    static List<Integer> shape(@Nullable String json) {
        try {
            JsonNode tree = Json.PLAIN.readTree(json == null ? "" : json);
            JsonNode permutation = tree.path("permutation");
            for (int i = 0; i < permutation.size(); i++) {
                if (permutation.get(i).asInt(-1) != i) {
                    return List.of();
                }
            }
            List<Integer> shape = new ArrayList<>();
            tree.path("shape").forEach(dimension -> shape.add(dimension.asInt()));
            return shape;
        } catch (JsonProcessingException e) {
            return List.of();
        }
    }
}

package dev.stoker.formats.parquet.column;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a dataset, as the metadata {@code stoker} of an exported file has them, so that an ingest of the file
 * gives the same fields:
 *
 * <pre>
 * {"key": "key", "fields": {"image": {"type": "binary", "payload": true},
 *                           "label": {"type": "categorical", "classes": ["cat", "dog"]}}}
 * </pre>
 *
 * @param key the column with the keys of the samples, or "" if the file has none
 * @param fields by name of the column
 */
public record ExportedColumns(String key, Map<String, Exported> fields) {
    public static final String METADATA_KEY = "stoker";

    private static final ExportedColumns NONE = new ExportedColumns("", Map.of());

    /**
     * A field.
     *
     * @param classes the names of a categorical field by id
     */
    public record Exported(FieldType type, boolean payload, List<String> classes) {}

    public static String encode(OutputTable table) {
        ObjectNode root = Json.object();
        if (table.key() >= 0) {
            root.put("key", table.columns().get(table.key()).name());
        }
        ObjectNode fields = root.putObject("fields");
        for (int c = 0; c < table.columns().size(); c++) {
            OutputColumn column = table.columns().get(c);
            if (c == table.key()) {
                continue;
            }
            ObjectNode field =
                    fields.putObject(column.name()).put("type", column.type().canonical());
            if (column.payload()) {
                field.put("payload", true);
            }
            if (column.type() == ScalarType.CATEGORICAL) {
                column.classes().forEach(field.putArray("classes")::add);
            }
        }
        return root.toString();
    }

    /**
     * Returns the columns, or nothing if there is no metadata.
     *
     * @throws IOException if the text is not such metadata: the key, classes and types would be lost
     */
    public static ExportedColumns parse(@Nullable String json) throws IOException {
        if (json == null) {
            return NONE;
        }
        try {
            JsonNode root = Json.PLAIN.readTree(json);
            Map<String, Exported> fields = new LinkedHashMap<>();
            for (Map.Entry<String, JsonNode> entry : root.path("fields").properties()) {
                fields.put(entry.getKey(), field(entry.getKey(), entry.getValue()));
            }
            return new ExportedColumns(root.path("key").asText(""), fields);
        } catch (JsonProcessingException e) {
            throw new IOException(
                    "its metadata " + METADATA_KEY + " is not JSON; export the dataset again, or write the file without"
                            + " this metadata",
                    e);
        }
    }

    private static Exported field(String column, JsonNode field) throws IOException {
        try {
            List<String> classes = new ArrayList<>();
            field.path("classes").forEach(name -> classes.add(name.asText()));
            FieldType type = FieldType.parse(field.path("type").asText());
            return new Exported(type, field.path("payload").asBoolean(), classes);
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    "its metadata " + METADATA_KEY + " names a type of column " + column
                            + " that this release does not know; update Stoker, or write the file without this"
                            + " metadata",
                    e);
        }
    }
}

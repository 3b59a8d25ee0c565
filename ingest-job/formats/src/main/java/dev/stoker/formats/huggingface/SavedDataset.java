package dev.stoker.formats.huggingface;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The directory that {@code save_to_disk} of the {@code datasets} library writes:
 *
 * <pre>
 * dataset_dict.json            {"splits": ["train", "test"]}, if there are several splits, each in its own directory:
 * train/state.json             {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], …}
 * train/dataset_info.json
 * train/data-00000-of-00001.arrow
 * </pre>
 *
 * The directory can have other Arrow files, such as caches of {@code map}, which are not part of the dataset.
 */
public final class SavedDataset {
    /** Name of the file that lists the splits. */
    public static final String SPLITS_FILE = "dataset_dict.json";

    /** Name of the file that lists the Arrow files of a split. */
    public static final String STATE_FILE = "state.json";

    private SavedDataset() {}

    /**
     * Returns the names of the splits, which are the names of their directories.
     *
     * @param json content of {@link #SPLITS_FILE}
     * @param file its name, for messages
     */
    public static List<String> splits(String json, String file) throws IOException {
        return names(parse(json, file).path("splits"), "splits", file);
    }

    /**
     * Returns the names of the Arrow files of a split, in the order of its rows.
     *
     * @param json content of {@link #STATE_FILE}
     * @param file its name, for messages
     */
    public static List<String> files(String json, String file) throws IOException {
        JsonNode state = parse(json, file);
        JsonNode indices = state.path("_indices_data_files");
        if (indices.isArray() && !indices.isEmpty()) {
            throw new UnsupportedFileException(file + " names a file of row numbers, which Stoker does not read; call"
                    + " flatten_indices() and save_to_disk() again");
        }
        List<JsonNode> names = new ArrayList<>();
        state.path("_data_files").forEach(entry -> names.add(entry.path("filename")));
        return names(names, "_data_files", file);
    }

    private static JsonNode parse(String json, String file) throws DamagedFileException {
        try {
            return Json.PLAIN.readTree(json);
        } catch (JsonProcessingException e) {
            throw new DamagedFileException(file + " is damaged: it is no JSON; restore the file from a copy", e);
        }
    }

    private static List<String> names(Iterable<JsonNode> nodes, String key, String file) throws DamagedFileException {
        List<String> names = new ArrayList<>();
        for (JsonNode node : nodes) {
            String name = node.asText("");
            if (name.isEmpty() || name.equals(".") || name.equals("..") || name.matches(".*[/\\\\].*")) {
                throw new DamagedFileException(
                        file + " is damaged: '" + key + "' has the name '" + name + "'; restore the file from a copy");
            }
            names.add(name);
        }
        if (names.isEmpty()) {
            throw new DamagedFileException(file + " is damaged: it has no '" + key + "'; restore the file from a copy");
        }
        return names;
    }
}

package dev.stoker.formats.mds;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.values.Utf8;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The description of the columns in a shard.
 *
 * @param names names of the columns
 * @param encodings their encodings, such as {@code ndarray:float32}
 * @param sizes bytes of each value, or 0 if they differ
 */
record MdsConfig(List<String> names, List<String> encodings, List<Integer> sizes) {
    static final int VERSION = 2;

    static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(
                            StreamReadConstraints.builder().maxNestingDepth(32).build())
                    .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    static MdsConfig parse(String file, byte[] json) throws IOException {
        JsonNode config = read(file, "its header", json);
        checkVersion(file, config);
        List<String> names = texts(file, config, "column_names");
        List<String> encodings = texts(file, config, "column_encodings");
        List<Integer> sizes = new ArrayList<>();
        for (JsonNode size : config.path("column_sizes")) {
            if (!size.isNull() && !(size.isInt() && size.intValue() >= 0)) {
                throw damaged(file, "column_sizes has " + size);
            }
            sizes.add(size.asInt(0));
        }
        if (names.size() != encodings.size() || names.size() != sizes.size()) {
            throw damaged(
                    file,
                    "it has " + names.size() + " names, " + encodings.size() + " encodings and " + sizes.size()
                            + " sizes of columns");
        }
        return new MdsConfig(List.copyOf(names), List.copyOf(encodings), List.copyOf(sizes));
    }

    static JsonNode read(String file, String what, byte[] json) throws IOException {
        // As text, because the parser would guess UTF-16 and UTF-32 from bytes.
        String text = Utf8.decodeOrNull(ByteBuffer.wrap(json));
        if (text == null) {
            throw damaged(file, what + " is not UTF-8");
        }
        try {
            JsonNode node = JSON.readTree(text);
            if (node == null || !node.isObject()) {
                throw damaged(file, what + " is not a JSON object");
            }
            return node;
        } catch (JsonProcessingException e) {
            throw new DamagedFileException(
                    file + " is damaged: " + what + " is not JSON; restore the file from a copy", e);
        }
    }

    static void checkVersion(String file, JsonNode config) throws UnsupportedFileException {
        String format = config.path("format").asText("mds");
        if (!format.equals("mds")) {
            throw new UnsupportedFileException(file + " has shards in the format " + format + "; only mds can be read");
        }
        if (config.path("version").asInt() != VERSION) {
            throw new UnsupportedFileException(file + " has version " + config.path("version")
                    + " of MDS; only version " + VERSION + " can be read");
        }
    }

    static List<String> texts(String file, JsonNode config, String key) throws DamagedFileException {
        List<String> texts = new ArrayList<>();
        JsonNode list = config.path(key);
        for (JsonNode text : list) {
            if (!text.isTextual()) {
                throw damaged(file, key + " has " + text);
            }
            texts.add(text.textValue());
        }
        if (!list.isArray()) {
            throw damaged(file, key + " is not a list");
        }
        return texts;
    }

    static DamagedFileException damaged(String file, String what) {
        return new DamagedFileException(file + " is damaged: " + what + "; restore the file from a copy");
    }
}

package dev.stoker.schemas.log;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.json.Json;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/**
 * The class names that an entry replaces by tombstones. A tombstone keeps the id of the class, and says nothing about
 * its name. Immutable. Normative: {@code docs/formats/dataset.md}, "Erased classes".
 *
 * @param fields the replaced names of each field, in ascending field name
 */
public record ErasedClasses(Map<String, Names> fields) {

    /** Nothing is replaced. */
    public static final ErasedClasses NONE = new ErasedClasses(Map.of());

    private static final String PREFIX = "erased_";
    private static final Pattern TOMBSTONE = Pattern.compile(PREFIX + "[0-9a-f]{32}");
    private static final Pattern ID = Pattern.compile("0|[1-9][0-9]{0,8}");

    /**
     * The replaced names of one field.
     *
     * @param tombstones the new name of each id
     * @param crc32c checksum of the whole list of names after the replacement; a list with another checksum has other
     *     ids, and stays as it is
     */
    public record Names(SortedMap<Integer, String> tombstones, int crc32c) {
        public Names {
            tombstones = Collections.unmodifiableSortedMap(new TreeMap<>(tombstones));
            if (tombstones.isEmpty()) {
                throw new IllegalArgumentException("no class is erased");
            }
            tombstones.values().forEach(name -> {
                if (!isTombstone(name)) {
                    throw new IllegalArgumentException("'" + name + "' is not the name of an erased class");
                }
            });
        }
    }

    public ErasedClasses {
        fields = Collections.unmodifiableMap(new TreeMap<>(fields));
    }

    /** Returns a new tombstone. */
    public static String newTombstone(Random random) {
        byte[] bytes = new byte[16];
        random.nextBytes(bytes);
        return PREFIX + HexFormat.of().formatHex(bytes);
    }

    /** Returns whether a class name has the form of a tombstone. */
    public static boolean isTombstone(String name) {
        return name.startsWith(PREFIX) && TOMBSTONE.matcher(name).matches();
    }

    /** Returns the checksum of a list of names: each one as the length of its UTF-8 bytes (4 bytes) and these bytes. */
    public static int crc32c(List<String> names) {
        CRC32C crc = new CRC32C();
        ByteBuffer length = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
        for (String name : names) {
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            crc.update(length.clear().putInt(bytes.length).flip());
            crc.update(bytes);
        }
        return (int) crc.getValue();
    }

    /** Returns the text of the property: {@code {"label":{"crc32c":"0011aabb","names":{"1":"erased_…"}}}}. */
    public String text() {
        ObjectNode root = Json.object();
        fields.forEach((field, names) -> {
            ObjectNode node = root.putObject(field).put("crc32c", Crc32cs.hex(names.crc32c));
            ObjectNode tombstones = node.putObject("names");
            names.tombstones.forEach((id, name) -> tombstones.put(id.toString(), name));
        });
        return root.toString();
    }

    /**
     * Reads the text of the property.
     *
     * @throws IllegalArgumentException if it has another form
     */
    public static ErasedClasses parse(String text) {
        JsonNode root;
        try {
            root = Json.STRICT.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the erased classes are no JSON: " + e.getOriginalMessage(), e);
        }
        Map<String, Names> fields = new TreeMap<>();
        if (!root.isObject()) {
            throw new IllegalArgumentException("the erased classes are no JSON object");
        }
        root.properties().forEach(field -> fields.put(field.getKey(), names(field.getKey(), field.getValue())));
        return new ErasedClasses(fields);
    }

    private static Names names(String field, JsonNode json) {
        SortedMap<Integer, String> tombstones = new TreeMap<>();
        json.path("names").properties().forEach(name -> {
            if (!ID.matcher(name.getKey()).matches()) {
                throw new IllegalArgumentException("'" + name.getKey() + "' is not an id of a class of " + field);
            }
            tombstones.put(Integer.valueOf(name.getKey()), name.getValue().asText());
        });
        return new Names(tombstones, Crc32cs.parse(json.path("crc32c").asText()));
    }
}

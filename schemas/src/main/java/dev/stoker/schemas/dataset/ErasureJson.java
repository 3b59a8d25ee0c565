package dev.stoker.schemas.dataset;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.crc.SelfChecksum;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.log.CanonicalUuid;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Reads and writes the JSON of an {@link Erasure}: UTF-8, compact, with the keys in this order:
 *
 * <pre>
 * {"self":"stoker.crc32c=…","format":1,"dataset":…,"name":…,"erasure":…,"began":…,"by":…,"salt":…,"keys":[…],
 *  "up_to":…,"version":…,"expired":…,"removed":[{"chunk":…,"length":…,"crc32c":…},…],"rewritten":[…],"files":[…],
 *  "classes":[{"field":…,"id":…,"name":…,"tombstone":…},…],"ended":…,"not_reached":[…]}
 * </pre>
 *
 * The keys from {@code up_to} on are omitted in the first phase, {@code ended} in the second, and {@code classes} if no
 * class is erased.
 */
final class ErasureJson {

    private static final String KIND = "a record of an erasure";
    private static final byte[] START = "{\"self\":\"".getBytes(StandardCharsets.US_ASCII);
    private static final Pattern HEX8 = Pattern.compile("[0-9a-f]{8}");

    private ErasureJson() {}

    static byte[] encode(Erasure erasure) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = DatasetJson.MAPPER.createGenerator(text)) {
            json.writeStartObject();
            json.writeStringField("self", SelfChecksum.PLACEHOLDER);
            json.writeNumberField("format", Erasure.FORMAT);
            json.writeStringField("dataset", erasure.dataset().toString());
            json.writeStringField("name", erasure.name());
            json.writeStringField("erasure", erasure.id());
            json.writeStringField("began", DatasetJson.TIME.format(erasure.began()));
            json.writeStringField("by", erasure.by());
            json.writeStringField("salt", erasure.keys().salt());
            texts(json, "keys", erasure.keys().hashes());
            if (erasure.result().isPresent()) {
                result(json, erasure.result().get());
            }
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return SelfChecksum.seal(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static void result(JsonGenerator json, ErasureResult result) throws IOException {
        json.writeNumberField("up_to", result.versions().upTo());
        json.writeNumberField("version", result.versions().newest());
        json.writeStringField("expired", result.versions().expired());
        json.writeArrayFieldStart("removed");
        for (ErasedChunk chunk : result.removed()) {
            json.writeStartObject();
            json.writeStringField("chunk", chunk.id().toString());
            json.writeNumberField("length", chunk.length());
            json.writeStringField("crc32c", Crc32cs.hex(chunk.crc32c()));
            json.writeEndObject();
        }
        json.writeEndArray();
        texts(json, "rewritten", result.rewritten().stream().map(UUID::toString).toList());
        texts(json, "files", result.files());
        if (!result.classes().isEmpty()) {
            classes(json, result.classes());
        }
        if (result.ended().isPresent()) {
            json.writeStringField(
                    "ended", DatasetJson.TIME.format(result.ended().get()));
        }
        texts(json, "not_reached", result.notReached());
    }

    private static void classes(JsonGenerator json, List<ErasedClass> classes) throws IOException {
        json.writeArrayFieldStart("classes");
        for (ErasedClass erased : classes) {
            json.writeStartObject();
            json.writeStringField("field", erased.field());
            json.writeNumberField("id", erased.id());
            json.writeStringField("name", erased.name());
            json.writeStringField("tombstone", erased.tombstone());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void texts(JsonGenerator json, String key, List<String> texts) throws IOException {
        json.writeArrayFieldStart(key);
        for (String text : texts) {
            json.writeString(text);
        }
        json.writeEndArray();
    }

    static Erasure decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        if (content.length > Erasure.MAX_BYTES) {
            throw CorruptDataException.mismatch(file, "its length", "at most " + Erasure.MAX_BYTES, content.length);
        }
        SelfChecksum.verify(content, file, KIND, START);
        JsonNode json = DatasetJson.read(content, file, Erasure.FORMAT);
        if (!json.path("erasure").isTextual()) {
            throw new ForeignFileException(file, KIND, "it names no erasure");
        }
        try {
            DatasetJson.require(json.path("format").intValue() == Erasure.FORMAT, "format is not " + Erasure.FORMAT);
            return new Erasure(
                    CanonicalUuid.parse(DatasetJson.text(json, "dataset")),
                    DatasetJson.text(json, "name"),
                    DatasetJson.text(json, "erasure"),
                    new KeyHashes(DatasetJson.text(json, "salt"), texts(json, "keys")),
                    time(json, "began"),
                    DatasetJson.text(json, "by"),
                    json.has("up_to") ? Optional.of(result(json)) : Optional.empty());
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
    }

    private static ErasureResult result(JsonNode json) {
        List<ErasedChunk> removed = new ArrayList<>();
        for (JsonNode chunk : list(json, "removed")) {
            String crc = DatasetJson.text(chunk, "crc32c");
            DatasetJson.require(HEX8.matcher(crc).matches(), "'" + crc + "' is not 8 lower-case hex digits");
            removed.add(new ErasedChunk(
                    CanonicalUuid.parse(DatasetJson.text(chunk, "chunk")),
                    number(chunk, "length"),
                    Integer.parseUnsignedInt(crc, 16)));
        }
        return new ErasureResult(
                new ErasureResult.Versions(
                        number(json, "up_to"), number(json, "version"), DatasetJson.text(json, "expired")),
                removed,
                texts(json, "rewritten").stream().map(CanonicalUuid::parse).toList(),
                texts(json, "files"),
                json.has("classes") ? classes(json) : List.of(),
                json.has("ended") ? Optional.of(time(json, "ended")) : Optional.empty(),
                texts(json, "not_reached"));
    }

    private static List<ErasedClass> classes(JsonNode json) {
        List<ErasedClass> classes = new ArrayList<>();
        for (JsonNode erased : list(json, "classes")) {
            DatasetJson.require(erased.path("id").canConvertToInt(), "the id of a class is not a number");
            classes.add(new ErasedClass(
                    DatasetJson.text(erased, "field"),
                    erased.path("id").intValue(),
                    DatasetJson.text(erased, "name"),
                    DatasetJson.text(erased, "tombstone")));
        }
        return classes;
    }

    private static Instant time(JsonNode json, String key) {
        return DatasetJson.TIME.parse(DatasetJson.text(json, key), Instant::from);
    }

    private static long number(JsonNode json, String key) {
        DatasetJson.require(
                json.path(key).isIntegralNumber() && json.path(key).canConvertToLong(), key + " is not a number");
        return json.path(key).longValue();
    }

    private static JsonNode list(JsonNode json, String key) {
        DatasetJson.require(json.path(key).isArray(), key + " is not a list");
        return json.path(key);
    }

    private static List<String> texts(JsonNode json, String key) {
        List<String> texts = new ArrayList<>();
        for (JsonNode text : list(json, key)) {
            DatasetJson.require(text.isTextual(), key + " contains something that is not text");
            texts.add(text.textValue());
        }
        return texts;
    }
}

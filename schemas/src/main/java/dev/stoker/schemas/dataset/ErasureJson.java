package dev.stoker.schemas.dataset;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.log.CanonicalUuid;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

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
    private static final SealedJson FILES = new SealedJson(KIND, Erasure.FORMAT, Erasure.MAX_BYTES);

    private ErasureJson() {}

    static byte[] encode(Erasure erasure) {
        return FILES.encode(json -> {
            json.put("dataset", erasure.dataset().toString()).put("name", erasure.name());
            json.put("erasure", erasure.id()).put("began", SealedJson.time(erasure.began()));
            json.put("by", erasure.by()).put("salt", erasure.keys().salt());
            texts(json, "keys", erasure.keys().hashes());
            erasure.result().ifPresent(result -> result(json, result));
        });
    }

    private static void result(ObjectNode json, ErasureResult result) {
        json.put("up_to", result.versions().upTo());
        json.put("version", result.versions().newest());
        json.put("expired", result.versions().expired());
        ArrayNode removed = json.putArray("removed");
        for (ErasedChunk chunk : result.removed()) {
            removed.addObject()
                    .put("chunk", chunk.id().toString())
                    .put("length", chunk.length())
                    .put("crc32c", Crc32cs.hex(chunk.crc32c()));
        }
        texts(json, "rewritten", result.rewritten().stream().map(UUID::toString).toList());
        texts(json, "files", result.files());
        if (!result.classes().isEmpty()) {
            ArrayNode classes = json.putArray("classes");
            for (ErasedClass erased : result.classes()) {
                classes.addObject()
                        .put("field", erased.field())
                        .put("id", erased.id())
                        .put("name", erased.name())
                        .put("tombstone", erased.tombstone());
            }
        }
        result.ended().ifPresent(ended -> json.put("ended", SealedJson.time(ended)));
        texts(json, "not_reached", result.notReached());
    }

    private static void texts(ObjectNode json, String key, List<String> texts) {
        texts.forEach(json.putArray(key)::add);
    }

    static Erasure decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        return FILES.decode(content, file, keys -> {
            if (!keys.json().path("erasure").isTextual()) {
                throw new ForeignFileException(file, KIND, "it names no erasure");
            }
            return new Erasure(
                    keys.id("dataset"),
                    keys.text("name"),
                    keys.text("erasure"),
                    new KeyHashes(keys.text("salt"), keys.texts("keys")),
                    keys.time("began"),
                    keys.text("by"),
                    keys.has("up_to") ? Optional.of(result(keys)) : Optional.empty());
        });
    }

    private static ErasureResult result(JsonKeys keys) {
        return new ErasureResult(
                new ErasureResult.Versions(keys.number("up_to"), keys.number("version"), keys.text("expired")),
                keys.objects("removed").stream().map(ErasureJson::chunk).toList(),
                keys.texts("rewritten").stream().map(CanonicalUuid::parse).toList(),
                keys.texts("files"),
                keys.has("classes")
                        ? keys.objects("classes").stream()
                                .map(ErasureJson::erasedClass)
                                .toList()
                        : List.of(),
                keys.has("ended") ? Optional.of(keys.time("ended")) : Optional.empty(),
                keys.texts("not_reached"));
    }

    private static ErasedChunk chunk(JsonKeys keys) {
        return new ErasedChunk(keys.id("chunk"), keys.number("length"), Crc32cs.parse(keys.text("crc32c")));
    }

    private static ErasedClass erasedClass(JsonKeys keys) {
        JsonNode id = keys.json().path("id");
        JsonKeys.require(id.canConvertToInt(), "the id of a class is not a number");
        return new ErasedClass(keys.text("field"), id.intValue(), keys.text("name"), keys.text("tombstone"));
    }
}

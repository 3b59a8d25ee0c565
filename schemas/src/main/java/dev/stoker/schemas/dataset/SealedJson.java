package dev.stoker.schemas.dataset;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.crc.SelfChecksum;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.features.Requires;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.function.Consumer;

/**
 * Writes and reads the files of one kind: a JSON object in UTF-8, compact, that begins with a checksum of the file and
 * its format version. The keys of the kind follow, always in the same order:
 *
 * <pre>
 * {"self":"stoker.crc32c=…","format":1,…}
 * </pre>
 *
 * Unknown keys are ignored.
 *
 * @param kind the kind as messages name it, such as {@code "a lease of an ingest"}
 * @param format the format version that this release writes, and the newest that it reads
 * @param maxBytes maximum length of a file
 */
record SealedJson(String kind, int format, int maxBytes) {

    private static final byte[] START = "{\"self\":\"".getBytes(StandardCharsets.US_ASCII);
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    /** Makes a value of the keys of a file. */
    interface Parser<T> {
        /**
         * Returns the value.
         *
         * @throws ForeignFileException if the keys are those of another kind of file
         * @throws IllegalArgumentException if a key is missing or has a wrong value
         * @throws DateTimeException if a time is none
         */
        T parse(JsonKeys keys) throws ForeignFileException;
    }

    /**
     * Returns the content of a file.
     *
     * @param keys adds the keys of the kind
     * @throws IllegalArgumentException if a text contains the mark of the self-checksum
     */
    byte[] encode(Consumer<ObjectNode> keys) {
        ObjectNode json = Json.object();
        json.put("self", SelfChecksum.PLACEHOLDER).put("format", format);
        keys.accept(json);
        try {
            // As text first: Jackson's UTF-8 writer escapes characters beyond the basic plane.
            String text = Json.STRICT.writeValueAsString(json);
            return SelfChecksum.seal(text.getBytes(StandardCharsets.UTF_8));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of texts and numbers can always be written", e);
        }
    }

    /**
     * Reads the content of a file.
     *
     * @param file its name as the user knows it
     */
    <T> T decode(byte[] content, String file, Parser<T> parser)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        if (content.length > maxBytes) {
            throw CorruptDataException.mismatch(file, "its length", "at most " + maxBytes, content.length);
        }
        SelfChecksum.verify(content, file, kind, START);
        JsonNode json = tree(content, file);
        JsonNode found = json.path("format");
        if (!found.isIntegralNumber()) {
            throw CorruptDataException.mismatch(file, "format", "a number", found);
        }
        if (!found.canConvertToInt() || found.intValue() > format) {
            throw new FormatTooNewException(file, found.asText(), format);
        }
        try {
            Requires.check(json, file);
            JsonKeys.require(found.intValue() == format, "format is not " + format);
            return parser.parse(new JsonKeys(json));
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
    }

    private static JsonNode tree(byte[] content, String file) throws CorruptDataException {
        try {
            return Json.STRICT.readTree(content);
        } catch (JsonProcessingException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
    }

    /** Returns a time as the files contain it. */
    static String time(Instant time) {
        return TIME.format(time);
    }

    /** Returns the time that a text of a file means. */
    static Instant time(String text) {
        return TIME.parse(text, Instant::from);
    }

    /**
     * Requires a time that the files can contain.
     *
     * @param what the time, as the message names it
     */
    static void requireMillis(String what, Instant time) {
        if (!time.equals(time.truncatedTo(ChronoUnit.MILLIS))) {
            throw new IllegalArgumentException(what + " has parts of a millisecond: " + time);
        }
    }
}

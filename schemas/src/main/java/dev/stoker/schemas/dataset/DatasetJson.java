package dev.stoker.schemas.dataset;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.crc.SelfChecksum;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.features.Requires;
import dev.stoker.schemas.log.CanonicalUuid;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes the JSON of a dataset.json: UTF-8, compact, with the keys in this order:
 *
 * <pre>
 * {"self":"stoker.crc32c=…","format":1,"id":…,"name":…,"created":…,
 *  "fields":[{"name":…,"type":…,"nullable":…,"payload":…},…],"classes":{…},"options":{…}}
 * </pre>
 *
 * The classes are omitted if none are declared. Unknown keys are ignored.
 */
final class DatasetJson {

    private static final String KIND = "a Stoker dataset.json";
    private static final byte[] START = "{\"self\":\"".getBytes(StandardCharsets.US_ASCII);
    static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
    static final ObjectMapper MAPPER = JsonMapper.builder()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private DatasetJson() {}

    static byte[] encode(DatasetInfo info) {
        // Encode as text first: Jackson's UTF-8 writer escapes characters beyond the basic plane.
        StringWriter text = new StringWriter();
        try (JsonGenerator json = MAPPER.createGenerator(text)) {
            json.writeStartObject();
            json.writeStringField("self", SelfChecksum.PLACEHOLDER);
            json.writeNumberField("format", DatasetInfo.FORMAT);
            json.writeStringField("id", info.id().toString());
            json.writeStringField("name", info.name());
            json.writeStringField("created", TIME.format(info.created()));
            json.writeArrayFieldStart("fields");
            for (Field field : info.fields()) {
                json.writeStartObject();
                json.writeStringField("name", field.name());
                json.writeStringField("type", field.type().canonical());
                json.writeBooleanField("nullable", field.nullable());
                json.writeBooleanField("payload", field.payload());
                json.writeEndObject();
            }
            json.writeEndArray();
            if (!info.classes().isEmpty()) {
                json.writeObjectFieldStart("classes");
                for (Map.Entry<String, List<String>> declared : info.classes().entrySet()) {
                    json.writeArrayFieldStart(declared.getKey());
                    for (String name : declared.getValue()) {
                        json.writeString(name);
                    }
                    json.writeEndArray();
                }
                json.writeEndObject();
            }
            json.writeObjectFieldStart("options");
            for (Map.Entry<String, Object> option : info.options().entrySet()) {
                if (option.getValue() instanceof Long number) {
                    json.writeNumberField(option.getKey(), number);
                } else {
                    json.writeStringField(option.getKey(), (String) option.getValue());
                }
            }
            json.writeEndObject();
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return SelfChecksum.seal(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    static DatasetInfo decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        if (content.length > DatasetInfo.MAX_BYTES) {
            throw CorruptDataException.mismatch(file, "its length", "at most " + DatasetInfo.MAX_BYTES, content.length);
        }
        SelfChecksum.verify(content, file, KIND, START);
        JsonNode json = read(content, file, DatasetInfo.FORMAT);
        try {
            return parse(json);
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
    }

    /** Returns the JSON of a file whose checksum has been verified, unless its format or a feature is too new. */
    static JsonNode read(byte[] content, String file, int known) throws CorruptDataException, FormatTooNewException {
        JsonNode json;
        try {
            json = MAPPER.readTree(content);
        } catch (JsonProcessingException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
        JsonNode format = json.path("format");
        if (!format.isIntegralNumber()) {
            throw CorruptDataException.mismatch(file, "format", "a number", format);
        }
        if (!format.canConvertToInt() || format.intValue() > known) {
            throw new FormatTooNewException(file, format.asText(), known);
        }
        try {
            Requires.check(json, file);
        } catch (IllegalArgumentException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
        return json;
    }

    private static DatasetInfo parse(JsonNode json) {
        require(json.path("format").intValue() == DatasetInfo.FORMAT, "format is not " + DatasetInfo.FORMAT);
        require(json.path("fields").isArray(), "fields is not a list");
        List<Field> fields = new ArrayList<>();
        for (JsonNode field : json.path("fields")) {
            fields.add(new Field(
                    text(field, "name"),
                    FieldType.parse(text(field, "type")),
                    flag(field, "nullable"),
                    flag(field, "payload")));
        }
        Map<String, List<String>> classes = new LinkedHashMap<>();
        json.path("classes").properties().forEach(declared -> {
            require(declared.getValue().isArray(), "the classes of " + declared.getKey() + " are not a list");
            List<String> names = new ArrayList<>();
            for (JsonNode name : declared.getValue()) {
                require(name.isTextual(), "a class of " + declared.getKey() + " is not text");
                names.add(name.textValue());
            }
            classes.put(declared.getKey(), names);
        });
        require(json.path("options").isObject(), "options is not an object");
        Map<String, Object> options = new LinkedHashMap<>();
        json.path("options").properties().forEach(option -> {
            JsonNode setting = option.getValue();
            require(
                    setting.isTextual() || (setting.isIntegralNumber() && setting.canConvertToLong()),
                    "option " + option.getKey() + " is neither text nor a whole number");
            options.put(option.getKey(), setting.isTextual() ? setting.textValue() : (Object) setting.longValue());
        });
        return new DatasetInfo(
                CanonicalUuid.parse(text(json, "id")),
                text(json, "name"),
                TIME.parse(text(json, "created"), Instant::from),
                fields,
                classes,
                options);
    }

    static String text(JsonNode json, String key) {
        require(json.path(key).isTextual(), key + " is not text");
        return json.path(key).textValue();
    }

    private static boolean flag(JsonNode json, String key) {
        require(json.path(key).isBoolean(), key + " is neither true nor false");
        return json.path(key).booleanValue();
    }

    static void require(boolean holds, String problem) {
        if (!holds) {
            throw new IllegalArgumentException(problem);
        }
    }
}

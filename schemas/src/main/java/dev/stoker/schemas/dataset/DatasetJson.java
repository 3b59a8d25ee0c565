package dev.stoker.schemas.dataset;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
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

    private static final SealedJson FILES =
            new SealedJson("a Stoker dataset.json", DatasetInfo.FORMAT, DatasetInfo.MAX_BYTES);

    private DatasetJson() {}

    static byte[] encode(DatasetInfo info) {
        return FILES.encode(json -> {
            json.put("id", info.id().toString()).put("name", info.name());
            json.put("created", SealedJson.time(info.created()));
            ArrayNode fields = json.putArray("fields");
            for (Field field : info.fields()) {
                fields.addObject()
                        .put("name", field.name())
                        .put("type", field.type().canonical())
                        .put("nullable", field.nullable())
                        .put("payload", field.payload());
            }
            if (!info.classes().isEmpty()) {
                ObjectNode classes = json.putObject("classes");
                info.classes().forEach((field, names) -> names.forEach(classes.putArray(field)::add));
            }
            ObjectNode options = json.putObject("options");
            info.options().forEach((option, setting) -> {
                if (setting instanceof Long number) {
                    options.put(option, number);
                } else {
                    options.put(option, (String) setting);
                }
            });
        });
    }

    static DatasetInfo decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        return FILES.decode(content, file, DatasetJson::info);
    }

    private static DatasetInfo info(JsonKeys keys) {
        List<Field> fields =
                keys.objects("fields").stream().map(DatasetJson::field).toList();
        Map<String, List<String>> classes = classes(keys.json().path("classes"));
        JsonKeys.require(keys.json().path("options").isObject(), "options is not an object");
        return new DatasetInfo(
                keys.id("id"),
                keys.text("name"),
                keys.time("created"),
                fields,
                classes,
                options(keys.json().path("options")));
    }

    private static Field field(JsonKeys keys) {
        return new Field(
                keys.text("name"), FieldType.parse(keys.text("type")), keys.flag("nullable"), keys.flag("payload"));
    }

    private static Map<String, List<String>> classes(JsonNode json) {
        Map<String, List<String>> classes = new LinkedHashMap<>();
        json.properties().forEach(declared -> {
            JsonKeys.require(declared.getValue().isArray(), "the classes of " + declared.getKey() + " are not a list");
            List<String> names = new ArrayList<>();
            for (JsonNode name : declared.getValue()) {
                JsonKeys.require(name.isTextual(), "a class of " + declared.getKey() + " is not text");
                names.add(name.textValue());
            }
            classes.put(declared.getKey(), names);
        });
        return classes;
    }

    private static Map<String, Object> options(JsonNode json) {
        Map<String, Object> options = new LinkedHashMap<>();
        json.properties().forEach(option -> {
            JsonNode setting = option.getValue();
            JsonKeys.require(
                    setting.isTextual() || (setting.isIntegralNumber() && setting.canConvertToLong()),
                    "option " + option.getKey() + " is neither text nor a whole number");
            options.put(option.getKey(), setting.isTextual() ? setting.textValue() : (Object) setting.longValue());
        });
        return options;
    }
}

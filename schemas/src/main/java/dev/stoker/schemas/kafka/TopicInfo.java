package dev.stoker.schemas.kafka;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.features.Requires;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.OrderSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * Contains the values of a feed's control records: the data that a consumer needs to map records to batches. It is JSON
 * with keys of WELCOME, and {@code lane} with the counts of the partition.
 *
 * @param feed the feed's id
 * @param feedName its name
 * @param stream the stream's name in the feed
 * @param dataset the dataset's id
 * @param datasetName its name
 * @param version the version
 * @param split the split
 * @param fingerprint fingerprint of data and order
 * @param order the order spec
 * @param fields the dataset's fields in their order
 * @param classes per categorical field the version's class names by id
 * @param laneRows live rows of each lane
 * @param epochs number of epochs that the feed writes; empty for no end
 * @param maxRecordBytes maximum number of bytes of a record's value
 * @param values format of the batch records
 * @param epoch the only epoch that these values apply to, if the feed follows its dataset; empty if they apply to all
 *     epochs
 */
public record TopicInfo(
        UUID feed,
        String feedName,
        String stream,
        UUID dataset,
        String datasetName,
        long version,
        String split,
        Fingerprint fingerprint,
        OrderSpec order,
        List<Field> fields,
        Map<String, List<String>> classes,
        List<Long> laneRows,
        OptionalLong epochs,
        int maxRecordBytes,
        Values values,
        OptionalLong epoch) {
    /**
     * Describes the content of batch records.
     *
     * @param format the format
     * @param schemaId for samples: the id of their schema in a registry
     */
    public record Values(ValueFormat format, OptionalInt schemaId) {
        /** Batch records with record batches. */
        public static final Values ARROW = new Values(ValueFormat.ARROW, OptionalInt.empty());

        private static Values read(JsonNode json) {
            if (json == null) {
                return ARROW;
            }
            String named = json.required("format").asText();
            JsonNode id = json.required("schema_id");
            if (!id.isNull() && !id.canConvertToInt()) {
                throw new IllegalArgumentException("schema_id " + id);
            }
            return new Values(
                    ValueFormat.named(named).orElseThrow(() -> new IllegalArgumentException("values in " + named)),
                    id.isNull() ? OptionalInt.empty() : OptionalInt.of(id.intValue()));
        }
    }

    /** The version of this description. */
    private static final int FORMAT = 1;

    public TopicInfo {
        fields = List.copyOf(fields);
        classes = new LinkedHashMap<>(classes);
        laneRows = List.copyOf(laneRows);
    }

    /** Creates the description of a topic of record batches. */
    public TopicInfo(
            UUID feed,
            String feedName,
            String stream,
            UUID dataset,
            String datasetName,
            long version,
            String split,
            Fingerprint fingerprint,
            OrderSpec order,
            List<Field> fields,
            Map<String, List<String>> classes,
            List<Long> laneRows,
            OptionalLong epochs,
            int maxRecordBytes) {
        this(
                feed,
                feedName,
                stream,
                dataset,
                datasetName,
                version,
                split,
                fingerprint,
                order,
                fields,
                classes,
                laneRows,
                epochs,
                maxRecordBytes,
                Values.ARROW,
                OptionalLong.empty());
    }

    /** Returns the same description for one epoch, because others may have another version. */
    public TopicInfo in(long only) {
        return new TopicInfo(
                feed,
                feedName,
                stream,
                dataset,
                datasetName,
                version,
                split,
                fingerprint,
                order,
                fields,
                classes,
                laneRows,
                epochs,
                maxRecordBytes,
                values,
                OptionalLong.of(only));
    }

    /** Returns whether each epoch has its own version. */
    public boolean follows() {
        return epoch.isPresent();
    }

    /** Returns the lengths of every epoch. */
    public EpochSize size() {
        return new EpochSize(laneRows.stream().mapToLong(Long::longValue).sum(), order.batchSize());
    }

    /**
     * Returns the value of a control record.
     *
     * @param pieces number of batches in each epoch of which the lane has a piece
     * @param counts the records of the epoch, for its end
     */
    public byte[] value(int lane, long pieces, EpochCounts counts) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("stoker", FORMAT);
        json.putObject("feed").put("id", feed.toString()).put("name", feedName);
        json.putObject("stream")
                .put("name", stream)
                .put("dataset", dataset.toString())
                .put("dataset_name", datasetName)
                .put("version", version)
                .put("split", split);
        json.put("fingerprint", fingerprint.text());
        json.set("order", tree(order.toJson()));
        ArrayNode fieldArray = json.putArray("fields");
        for (Field field : fields) {
            fieldArray
                    .addObject()
                    .put("name", field.name())
                    .put("type", field.type().canonical())
                    .put("nullable", field.nullable())
                    .put("payload", field.payload());
        }
        ObjectNode classObject = json.putObject("classes");
        classes.forEach((field, names) -> names.forEach(classObject.putArray(field)::add));
        ArrayNode rows = json.putArray("lane_rows");
        laneRows.forEach(rows::add);
        json.put("samples", size().samples()).put("batches", size().batches());
        json.set("epochs", epochs.isPresent() ? JsonNodeFactory.instance.numberNode(epochs.getAsLong()) : null);
        epoch.ifPresent(only -> json.put("follows", true).put("epoch", only));
        json.put("max_record_bytes", maxRecordBytes);
        if (values.format() == ValueFormat.AVRO) {
            ObjectNode samples = json.putObject("values").put("format", ValueFormat.AVRO.text());
            samples.set("schema", tree(SampleSchema.of(fields)));
            samples.set(
                    "schema_id",
                    values.schemaId().isPresent()
                            ? JsonNodeFactory.instance.numberNode(
                                    values.schemaId().getAsInt())
                            : null);
        }
        json.putObject("lane")
                .put("lane", lane)
                .put("pieces", pieces)
                .put("records", counts.records())
                .put("rows", counts.rows())
                .put("skipped", counts.skipped());
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Reads the value of a control record.
     *
     * @param where topic, partition and offset, for messages
     * @throws CorruptDataException if it is not such a value
     * @throws FormatTooNewException if it requires a feature that this release does not know
     */
    public static TopicInfo read(byte[] value, String where) throws CorruptDataException, FormatTooNewException {
        try {
            JsonNode json = Json.PLAIN.readTree(value);
            Requires.check(json, where);
            JsonNode stream = json.required("stream");
            List<Field> fields = new ArrayList<>();
            for (JsonNode field : json.required("fields")) {
                fields.add(new Field(
                        field.required("name").asText(),
                        FieldType.parse(field.required("type").asText()),
                        field.required("nullable").asBoolean(),
                        field.required("payload").asBoolean()));
            }
            Map<String, List<String>> classes = new LinkedHashMap<>();
            for (Map.Entry<String, JsonNode> field : json.required("classes").properties()) {
                List<String> names = new ArrayList<>();
                field.getValue().forEach(name -> names.add(name.asText()));
                classes.put(field.getKey(), names);
            }
            List<Long> laneRows = new ArrayList<>();
            json.required("lane_rows").forEach(rows -> laneRows.add(rows.asLong(-1)));
            JsonNode epochs = json.required("epochs");
            TopicInfo info = new TopicInfo(
                    UUID.fromString(json.required("feed").required("id").asText()),
                    json.required("feed").required("name").asText(),
                    stream.required("name").asText(),
                    UUID.fromString(stream.required("dataset").asText()),
                    stream.required("dataset_name").asText(),
                    stream.required("version").asLong(),
                    stream.required("split").asText(),
                    new Fingerprint(json.required("fingerprint").asText()),
                    OrderSpec.fromJson(json.required("order").toString()),
                    fields,
                    classes,
                    laneRows,
                    epochs.isNull() ? OptionalLong.empty() : OptionalLong.of(epochs.asLong()),
                    json.required("max_record_bytes").asInt(),
                    Values.read(json.get("values")),
                    OptionalLong.empty());
            if (laneRows.stream().anyMatch(rows -> rows < 0)
                    || info.size().samples() != json.required("samples").asLong(-1)
                    || info.size().batches() != json.required("batches").asLong(-1)) {
                throw new IllegalArgumentException(laneRows + " rows in lanes, " + json.required("samples")
                        + " samples, " + json.required("batches") + " batches");
            }
            return json.path("follows").asBoolean() ? info.in(natural(json.required("epoch"))) : info;
        } catch (FormatTooNewException e) {
            throw e;
        } catch (IOException | IllegalArgumentException e) {
            throw new CorruptDataException(where + " is corrupt: the description of the feed: " + e.getMessage()
                    + "; feed the epoch again into a new topic");
        }
    }

    private static long natural(JsonNode number) {
        if (!number.isIntegralNumber() || !number.canConvertToLong() || number.longValue() < 0) {
            throw new IllegalArgumentException("epoch " + number);
        }
        return number.longValue();
    }

    private static JsonNode tree(String json) {
        try {
            return Json.PLAIN.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("an order spec is JSON", e);
        }
    }
}

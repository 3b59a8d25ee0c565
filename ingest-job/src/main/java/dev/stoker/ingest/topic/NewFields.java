package dev.stoker.ingest.topic;

import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.topic.value.AvroFields;
import dev.stoker.ingest.topic.value.AvroReader;
import dev.stoker.ingest.topic.value.FirstValues;
import dev.stoker.ingest.topic.value.JsonFields;
import dev.stoker.ingest.topic.value.RecordFormat;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;

/**
 * Determines the fields of a new dataset: those of the mapping, then those of the value, small ones first.
 *
 * @param options the requested options
 * @param value format of the values, with its schema
 * @param records the first ones; may be empty
 * @param notes receives notes for the user
 */
record NewFields(TopicIngestOptions options, RecordFormat value, List<SourceRecord> records, List<String> notes) {

    private static final long BIG_BYTES = 1024;

    List<Field> decide() throws IOException {
        Map<String, Field> all = new LinkedHashMap<>();
        options.mapping().fields().forEach(field -> all.put(field.name(), field));
        List<Field> own = ofValue();
        for (Field field : own) {
            if (all.put(field.name(), field) != null) {
                throw new InvalidIngestException("the values have a field " + field.name()
                        + ", and so has the mapping of key, time and headers; rename the latter");
            }
        }
        Map<String, Double> sizes = sizes(own);
        List<Field> small = new ArrayList<>();
        List<Field> payload = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        Optional<List<String>> asked = options.shape().payload();
        for (Field field : all.values()) {
            boolean isPayload = asked.isPresent()
                    ? asked.get().contains(field.name())
                    : !field.nullable() && field.type().mayBePayload() && isBig(field, sizes);
            try {
                (isPayload ? payload : small).add(new Field(field.name(), field.type(), field.nullable(), isPayload));
            } catch (IllegalArgumentException e) {
                problems.add("option --payload: " + e.getMessage());
            }
        }
        asked.ifPresent(names -> names.stream()
                .filter(name -> !all.containsKey(name))
                .forEach(name -> problems.add("option --payload: the field " + name + " does not exist; possible are "
                        + String.join(", ", all.keySet()))));
        if (!problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
        small.addAll(payload);
        return small;
    }

    private List<Field> ofValue() throws IOException {
        if (value.kind() == RecordFormat.Kind.RAW) {
            return List.of(new Field(value.field(), FieldType.parse("binary"), false, false));
        }
        List<Field> declared = options.shape().fields();
        if (!declared.isEmpty()) {
            List<String> misfits = value.kind() == RecordFormat.Kind.AVRO
                    ? AvroReader.misfits(value, declared, options.topic().clients())
                    : List.of();
            if (!misfits.isEmpty()) {
                throw new InvalidIngestException(misfits.stream()
                        .map(misfit -> misfit + "; correct --schema")
                        .toList());
            }
            return declared;
        }
        return value.kind() == RecordFormat.Kind.JSON
                ? JsonFields.infer(records, notes)
                : AvroFields.of(
                        AvroFields.parse(Objects.requireNonNull(value.avroSchema(), "the newest schema is known")),
                        notes);
    }

    /** Without records, bytes count as large and other types as small. */
    private boolean isBig(Field field, Map<String, Double> sizes) {
        Double size = sizes.get(field.name());
        return size == null ? field.type().canonical().equals("binary") : size > BIG_BYTES;
    }

    /** Returns the average size of the values of each field; empty without records. */
    private Map<String, Double> sizes(List<Field> fields) throws IOException {
        FirstValues first =
                FirstValues.of(records, value, fields, options.topic().clients());
        Map<String, Double> sizes = new HashMap<>();
        for (int f = 0; f < fields.size() && !first.isEmpty(); f++) {
            sizes.put(fields.get(f).name(), first.bytes(f));
        }
        return sizes;
    }

    /** Adds the schema registry's schema to a format. */
    static RecordFormat withRegistrySchema(RecordFormat value, String topic, Properties clients) throws IOException {
        if (value.kind() != RecordFormat.Kind.AVRO || value.avroSchema() != null) {
            return value;
        }
        String schema = AvroReader.registry(value, clients)
                .newest(topic + "-value")
                .orElseThrow(() -> new InvalidIngestException("the schema registry " + value.registry()
                        + " has no schema for the subject " + topic + "-value; give one with --avro-schema FILE"));
        try {
            AvroFields.parse(schema);
        } catch (IllegalArgumentException e) {
            throw new InvalidIngestException("subject " + topic + "-value of the schema registry: " + e.getMessage());
        }
        return value.withSchema(schema);
    }
}

package dev.stoker.ingest.topic.value;

import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.json.JsonRecords;
import dev.stoker.formats.json.JsonSchema;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** Infers the fields of JSON values from the first values, as the columns of files of JSON lines. */
public final class JsonFields {

    private JsonFields() {}

    /**
     * Infers the small fields of the records' values, in the order of their first appearance. A key that is missing or
     * null in a record becomes a nullable field. Records that are not JSON objects are ignored and will become dead
     * letters.
     *
     * @param notes receives a sentence for each key that is ignored
     */
    public static List<Field> infer(List<SourceRecord> records, List<String> notes) throws IOException {
        JsonSchema schema =
                JsonRecords.infer(records.stream().map(SourceRecord::value).toList(), index -> {
                    SourceRecord record = records.get((int) index);
                    return "partition " + record.partition() + ", offset " + record.offset();
                });
        if (schema.objects() == 0) {
            throw new InvalidIngestException(
                    "the topic has no JSON object to infer the fields from; give them with --schema NAME:TYPE");
        }
        List<String> problems = new ArrayList<>();
        List<Field> columns = fields(schema.columns(), notes, problems);
        List<JsonSchema.Refused> refused = new ArrayList<>();
        for (JsonSchema.Refused column : schema.refused()) {
            if (column.isEmpty()) {
                notes.add("the key " + column.name() + " is ignored: it has no value in the first records");
            } else {
                refused.add(column);
                problems.add(
                        "the key " + column.name() + " of the JSON values in the first records: " + column.reason());
            }
        }
        List<Field> fields = known(records, columns);
        if (!refused.isEmpty()) {
            problems.add(advice(records, fields, refused));
        }
        if (!problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
        return fields;
    }

    private static List<Field> fields(List<RowColumn> columns, List<String> notes, List<String> problems) {
        List<Field> fields = new ArrayList<>();
        for (RowColumn column : columns) {
            if (column.name().equals(Field.KEY)) {
                notes.add("the key " + column.name() + " of the JSON values is ignored: key is the name of the sample's"
                        + " key");
                continue;
            }
            try {
                fields.add(new Field(column.name(), column.type(), true, false));
            } catch (IllegalArgumentException e) {
                problems.add("a key of the JSON values cannot become a field: " + ErrorText.of(e));
            }
        }
        return fields;
    }

    /** Returns the fields, nullable if a record has no value. */
    private static List<Field> known(List<SourceRecord> records, List<Field> fields) throws IOException {
        return FirstValues.of(records, fields, new JsonReader(fields)).withNulls();
    }

    /** Returns the schemas that keep the refused columns, and leave them out. */
    private static String advice(List<SourceRecord> records, List<Field> fields, List<JsonSchema.Refused> refused)
            throws IOException {
        String these = refused.size() == 1 ? "this key" : "these keys";
        boolean areKept = refused.stream().allMatch(column -> column.keep() != null);
        Map<String, Field> kept = new LinkedHashMap<>();
        if (areKept) {
            fields.forEach(field -> kept.put(field.name(), field));
            for (JsonSchema.Refused column : refused) {
                JsonSchema.Keep keep = Objects.requireNonNull(column.keep());
                kept.keySet().removeIf(name -> name.startsWith(keep.name() + "."));
                boolean isInside =
                        kept.keySet().stream().anyMatch(name -> keep.name().startsWith(name + "."));
                if (!isInside) {
                    kept.put(keep.name(), new Field(keep.name(), keep.type(), true, false));
                }
            }
        }
        String keep = areKept
                ? "to keep " + these + ", give --schema " + schema(known(records, List.copyOf(kept.values())))
                : "";
        if (fields.isEmpty()) {
            return areKept ? keep : "select the keys that become fields with --schema NAME:TYPE";
        }
        return keep + (areKept ? "; to" : "to") + " leave out " + these + ", give the others: --schema "
                + schema(fields);
    }

    private static String schema(List<Field> fields) {
        return ShellText.word(fields.stream()
                .map(field -> field.name() + ":" + field.type().canonical() + (field.nullable() ? "?" : ""))
                .collect(Collectors.joining(",")));
    }
}

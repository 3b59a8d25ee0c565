package dev.stoker.ingest.topic.value;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.avro.AvroRecords;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.errors.ErrorText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;

/** Derives fields from an Avro record, as the columns of Avro files. */
public final class AvroFields {

    private AvroFields() {}

    /**
     * Parses a schema.
     *
     * @throws IllegalArgumentException if the text is not a schema of a record, or it has too many levels
     */
    public static Schema parse(String text) {
        Schema schema;
        try {
            schema = new Schema.Parser().parse(text);
        } catch (AvroRuntimeException e) {
            throw new IllegalArgumentException("invalid Avro schema: " + e.getMessage(), e);
        }
        if (schema.getType() != Schema.Type.RECORD) {
            throw new IllegalArgumentException(
                    "the Avro schema describes a " + schema.getType().getName() + "; expected a record");
        }
        try {
            records(schema);
        } catch (UnsupportedFileException e) {
            throw new IllegalArgumentException(ErrorText.of(e), e);
        }
        return schema;
    }

    /** Returns the reader of records, without the fields that contain themselves. */
    static AvroRecords records(Schema schema) throws UnsupportedFileException {
        return new AvroRecords("the Avro schema " + schema.getFullName(), withoutLoops(schema));
    }

    /** Returns a record without the fields that contain themselves, which rows cannot hold. */
    static Schema withoutLoops(Schema record) {
        List<Schema.Field> finite = record.getFields().stream()
                .filter(field -> !isLoop(field.schema(), opened(record)))
                .map(field -> new Schema.Field(field, field.schema()))
                .toList();
        if (finite.size() == record.getFields().size()) {
            return record;
        }
        Schema other =
                Schema.createRecord(record.getName(), record.getDoc(), record.getNamespace(), record.isError(), finite);
        record.getAliases().forEach(other::addAlias);
        return other;
    }

    private static Set<Schema> opened(Schema record) {
        Set<Schema> open = Collections.newSetFromMap(new IdentityHashMap<>());
        open.add(record);
        return open;
    }

    /** @param open the records around the type */
    private static boolean isLoop(Schema type, Set<Schema> open) {
        return switch (type.getType()) {
            case ARRAY -> isLoop(type.getElementType(), open);
            case MAP -> isLoop(type.getValueType(), open);
            case UNION -> type.getTypes().stream().anyMatch(branch -> isLoop(branch, open));
            case RECORD -> {
                boolean isLoop =
                        !open.add(type) || type.getFields().stream().anyMatch(field -> isLoop(field.schema(), open));
                open.remove(type);
                yield isLoop;
            }
            default -> false;
        };
    }

    /**
     * The fields of a record as small fields, in its order.
     *
     * @param notes receives a sentence for each Avro field that is not supported
     */
    public static List<Field> of(Schema schema, List<String> notes) {
        RowSchema columns;
        try {
            columns = records(schema).schema();
        } catch (UnsupportedFileException e) {
            throw new InvalidIngestException(ErrorText.of(e));
        }
        List<Field> fields = new ArrayList<>();
        for (RowColumn column : columns.columns()) {
            if (column.name().equals(Field.KEY)) {
                notes.add("the Avro field key is ignored: key is the name of the sample's key");
                continue;
            }
            try {
                fields.add(new Field(column.name(), column.type(), column.nullable(), false));
            } catch (IllegalArgumentException e) {
                notes.add("the Avro field " + column.name() + " is ignored: " + ErrorText.of(e));
            }
        }
        Set<String> nullLists =
                columns.nullLists().stream().map(RowColumn::name).collect(Collectors.toSet());
        for (RowSchema.RefusedColumn column : columns.refused()) {
            String reason = nullLists.contains(column.name()) ? "all its items are null" : column.reason();
            notes.add("the Avro field " + column.name() + " (" + column.sourceType() + ") is ignored: " + reason);
        }
        Schema finite = withoutLoops(schema);
        for (Schema.Field field : schema.getFields()) {
            if (finite.getField(field.name()) == null) {
                notes.add("the Avro field " + field.name() + " is ignored: it contains itself");
            }
        }
        if (fields.isEmpty()) {
            throw new InvalidIngestException("the Avro schema " + schema.getFullName() + " has no supported field");
        }
        return fields;
    }
}

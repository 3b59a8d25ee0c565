package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Converts between the identity and layout of a chunk and its Arrow schema.
 *
 * @param identity identity of the chunk
 * @param layout the dataset's fields
 */
record ChunkSchema(ChunkIdentity identity, ChunkLayout layout) {
    private static final String FORMAT = "stoker.format";
    private static final String DATASET = "stoker.dataset";
    private static final String CHUNK = "stoker.chunk";
    private static final String INGEST = "stoker.ingest";
    private static final String SPLIT = "stoker.split";
    private static final String CREATED = "stoker.created";
    private static final String PAYLOAD = "stoker.payload";
    private static final String OVERLAID = "stoker.overlaid";
    private static final DateTimeFormatter MILLIS = DateTimeFormatter.ofPattern(
                    "uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    ArrowSchema toArrow() {
        List<String> payload = new ArrayList<>();
        for (Field field : layout.fields()) {
            if (field.payload()) {
                payload.add(field.name());
            }
        }
        Map<String, String> metadata = new LinkedHashMap<>();
        metadata.put(FORMAT, String.valueOf(ChunkLayout.FORMAT));
        metadata.put(DATASET, identity.dataset().toString());
        metadata.put(CHUNK, identity.chunk().toString());
        metadata.put(INGEST, identity.ingest());
        metadata.put(SPLIT, identity.split());
        metadata.put(CREATED, MILLIS.format(identity.created()));
        metadata.put(PAYLOAD, JsonText.array(payload));
        identity.overlaid().ifPresent(chunk -> metadata.put(OVERLAID, chunk.toString()));
        return new ArrowSchema(layout.arrowFields(), metadata);
    }

    /** Returns which columns are payload, according to the schema's metadata. */
    static boolean[] payloadColumns(ArrowSchema schema, String file) throws StokerException {
        return read(schema, file).layout().payloadColumns();
    }

    static ChunkSchema read(ArrowSchema schema, String file) throws StokerException {
        checkFormat(schema, file);
        List<String> payload = JsonText.parseArray(value(schema, PAYLOAD, file), PAYLOAD, file);
        return new ChunkSchema(identity(schema, file), layout(schema, payload, file));
    }

    private static void checkFormat(ArrowSchema schema, String file) throws StokerException {
        String format = schema.metadata().get(FORMAT);
        if (format == null) {
            throw new ForeignFileException(file, "a chunk", "its schema has no " + FORMAT);
        }
        if (format.equals(String.valueOf(ChunkLayout.FORMAT))) {
            return;
        }
        if (format.matches("[1-9][0-9]{0,5}")) {
            throw new FormatTooNewException(file, format, ChunkLayout.FORMAT);
        }
        throw CorruptDataException.mismatch(file, FORMAT, "a number", format);
    }

    private static ChunkIdentity identity(ArrowSchema schema, String file) throws StokerException {
        try {
            return new ChunkIdentity(
                    UUID.fromString(value(schema, DATASET, file)),
                    UUID.fromString(value(schema, CHUNK, file)),
                    value(schema, INGEST, file),
                    value(schema, SPLIT, file),
                    Instant.parse(value(schema, CREATED, file)),
                    Optional.ofNullable(schema.metadata().get(OVERLAID)).map(UUID::fromString));
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new CorruptDataException(
                    file + " is corrupt: its schema's metadata is no chunk's: " + e.getMessage()
                            + "; restore the file from a copy",
                    e);
        }
    }

    private static ChunkLayout layout(ArrowSchema schema, List<String> payload, String file) throws StokerException {
        List<ArrowField> columns = schema.fields();
        int small = columns.size() - 1 - 2 * payload.size();
        if (small < 0) {
            throw CorruptDataException.mismatch(
                    file,
                    "columns",
                    "at least " + (1 + 2 * payload.size()) + " for payload " + payload,
                    columns.size());
        }
        List<Field> fields = new ArrayList<>();
        ChunkLayout layout;
        try {
            for (ArrowField column : columns.subList(1, 1 + small)) {
                fields.add(new Field(column.name(), column.type(), column.nullable(), false));
            }
            for (ArrowField column : columns.subList(1 + small + payload.size(), columns.size())) {
                fields.add(new Field(column.name(), column.type(), column.nullable(), true));
            }
            layout = new ChunkLayout(fields);
        } catch (IllegalArgumentException e) {
            throw new CorruptDataException(
                    file + " is corrupt: its columns are no chunk's: " + e.getMessage()
                            + "; restore the file from a copy",
                    e);
        }
        List<ArrowField> expected = layout.arrowFields();
        for (int c = 0; c < columns.size(); c++) {
            ArrowField found = columns.get(c);
            ArrowField plain = new ArrowField(found.name(), found.type(), found.nullable(), Map.of());
            if (!plain.equals(expected.get(c))) {
                throw CorruptDataException.mismatch(file, "column " + c, expected.get(c), plain);
            }
        }
        List<String> names =
                fields.subList(small, fields.size()).stream().map(Field::name).toList();
        if (!names.equals(payload)) {
            throw CorruptDataException.mismatch(file, PAYLOAD, names, payload);
        }
        return layout;
    }

    private static String value(ArrowSchema schema, String key, String file) throws StokerException {
        String value = schema.metadata().get(key);
        if (value == null) {
            throw CorruptDataException.mismatch(file, "schema metadata " + key, "a value", "nothing");
        }
        return value;
    }
}

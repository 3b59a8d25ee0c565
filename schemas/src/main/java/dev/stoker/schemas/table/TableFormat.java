package dev.stoker.schemas.table;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.ArrowFile;
import dev.stoker.schemas.arrow.ColumnBuilder;
import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FixedBinaryType;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.crc.SelfChecksum;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.log.CanonicalUuid;
import dev.stoker.schemas.log.ExpiredVersions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the file of a chunk table: an Arrow IPC file of one record batch, with one row per chunk in
 * ascending ordinal and the columns of {@link #FIELDS}. Its schema metadata are {@code stoker.self} (the self-checksum,
 * only in the first schema message), {@code stoker.format}, {@code stoker.dataset}, {@code stoker.version}, {@code
 * stoker.splits} (JSON list), {@code stoker.classes} (JSON object of lists), {@code stoker.topics} (JSON object of
 * versions), {@code stoker.recovered}, if versions were expired {@code stoker.expired}, and if fields were added {@code
 * stoker.fields}.
 */
final class TableFormat {

    private static final String KIND = "a Stoker chunk table";
    private static final byte[] MAGIC = "ARROW1\0\0".getBytes(StandardCharsets.US_ASCII);

    static final List<ArrowField> FIELDS = List.of(
            field("ordinal", "int64"),
            ArrowField.of("id", new FixedBinaryType(16)),
            field("added_in", "int64"),
            field("split", "int32"),
            field("live", "bool"),
            field("rows", "int32"),
            field("live_rows", "int32"),
            field("length", "int64"),
            field("crc32c", "uint32"),
            field("head_length", "int64"),
            field("head_crc32c", "uint32"),
            field("largest_row", "int64"),
            ArrowField.nullable("removed_rows", FieldType.parse("int32[]")),
            ArrowField.nullable("overlay", new FixedBinaryType(16)),
            ArrowField.nullable("overlay_length", FieldType.parse("int64")),
            ArrowField.nullable("overlay_crc32c", FieldType.parse("uint32")));

    private TableFormat() {}

    private static ArrowField field(String name, String type) {
        return ArrowField.of(name, FieldType.parse(type));
    }

    static byte[] encode(TableColumns table) {
        List<ColumnBuilder> columns = new ArrayList<>();
        FIELDS.forEach(field -> columns.add(new ColumnBuilder(field)));
        ByteBuffer id = ByteBuffer.allocate(16).order(ByteOrder.BIG_ENDIAN);
        for (int i = 0; i < table.size; i++) {
            columns.get(0).appendLong(table.ordinals[i]);
            id.clear();
            columns.get(1)
                    .appendBytes(
                            id.putLong(table.idHigh[i]).putLong(table.idLow[i]).flip());
            columns.get(2).appendLong(table.addedIn[i]);
            columns.get(3).appendLong(table.split[i]);
            columns.get(4).appendBoolean(table.liveRows[i] > 0);
            columns.get(5).appendLong(table.rows[i]);
            columns.get(6).appendLong(table.liveRows[i]);
            columns.get(7).appendLong(table.lengths[i]);
            columns.get(8).appendLong(Integer.toUnsignedLong(table.crcs[i]));
            columns.get(9).appendLong(table.headLengths[i]);
            columns.get(10).appendLong(Integer.toUnsignedLong(table.headCrcs[i]));
            columns.get(11).appendLong(table.largestRows[i]);
            int[] removed = table.removed.get(i);
            if (removed == null) {
                columns.get(12).appendNull();
            } else {
                columns.get(12).appendInts(removed);
            }
            appendOverlay(columns, table.overlays.get(i), id);
        }
        ArrowSchema schema = new ArrowSchema(FIELDS, metadata(table));
        return SelfChecksum.seal(ArrowFile.write(schema, columns, Map.of()));
    }

    private static void appendOverlay(List<ColumnBuilder> columns, @Nullable ChunkOverlay overlay, ByteBuffer id) {
        if (overlay == null) {
            columns.subList(13, 16).forEach(ColumnBuilder::appendNull);
            return;
        }
        id.clear();
        columns.get(13)
                .appendBytes(id.putLong(overlay.id().getMostSignificantBits())
                        .putLong(overlay.id().getLeastSignificantBits())
                        .flip());
        columns.get(14).appendLong(overlay.length());
        columns.get(15).appendLong(Integer.toUnsignedLong(overlay.crc32c()));
    }

    private static Map<String, String> metadata(TableColumns table) {
        Map<String, String> metadata = new LinkedHashMap<>();
        metadata.put(ArrowFile.SELF_KEY, SelfChecksum.PLACEHOLDER);
        metadata.put("stoker.format", Integer.toString(ChunkTable.FORMAT));
        metadata.put("stoker.dataset", table.dataset.toString());
        metadata.put("stoker.version", Long.toString(table.version));
        try {
            metadata.put("stoker.splits", SelfChecksum.escape(Json.STRICT.writeValueAsString(table.splits)));
            metadata.put("stoker.classes", SelfChecksum.escape(Json.STRICT.writeValueAsString(table.classes.names())));
            metadata.put("stoker.topics", SelfChecksum.escape(Json.STRICT.writeValueAsString(table.topics)));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(
                    "Names of splits, classes or topics that are no Unicode: " + e.getOriginalMessage(), e);
        }
        metadata.put("stoker.recovered", Long.toString(table.recovered));
        if (!table.expired.isEmpty()) {
            metadata.put("stoker.expired", table.expired.toString());
        }
        if (!table.added.isEmpty()) {
            metadata.put("stoker.fields", SelfChecksum.escape(table.added.toString()));
        }
        return metadata;
    }

    static TableColumns decode(byte[] content, String file) throws StokerException {
        SelfChecksum.verify(content, file, KIND, MAGIC);
        ArrowFile arrow = ArrowFile.read(ByteBuffer.wrap(content), file);
        Map<String, String> metadata = arrow.schema().metadata();
        String format = metadata.getOrDefault("stoker.format", "");
        if (!format.equals(Integer.toString(ChunkTable.FORMAT))) {
            if (format.matches("[1-9][0-9]{0,8}")) {
                throw new FormatTooNewException(file, format, ChunkTable.FORMAT);
            }
            throw CorruptDataException.mismatch(file, "stoker.format", ChunkTable.FORMAT, "'" + format + "'");
        }
        if (!arrow.schema().fields().equals(FIELDS)) {
            throw CorruptDataException.mismatch(
                    file, "its columns", FIELDS, arrow.schema().fields());
        }
        try {
            TableColumns table = new TableColumns(CanonicalUuid.parse(text(metadata, "stoker.dataset")));
            table.version = Long.parseLong(text(metadata, "stoker.version"));
            table.splits.addAll(
                    Json.STRICT.readValue(text(metadata, "stoker.splits"), new TypeReference<List<String>>() {}));
            table.classes = ClassTable.of(Json.STRICT.readValue(
                    text(metadata, "stoker.classes"), new TypeReference<Map<String, List<String>>>() {}));
            table.topics.putAll(
                    Json.STRICT.readValue(text(metadata, "stoker.topics"), new TypeReference<Map<String, Long>>() {}));
            table.topics.forEach((topic, version) -> requireVersion(table, version, 1, "the topic " + topic));
            table.recovered = Long.parseLong(text(metadata, "stoker.recovered"));
            requireVersion(table, table.recovered, 0, "the newest recovered version");
            readExpired(table, metadata.get("stoker.expired"));
            readAdded(table, metadata.get("stoker.fields"));
            readColumns(arrow, table, file);
            return table;
        } catch (IllegalArgumentException | ArithmeticException | JsonProcessingException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
    }

    /** A table without expired versions has no list, so each content has one encoding. */
    private static void readExpired(TableColumns table, @Nullable String text) {
        if (text == null) {
            return;
        }
        table.expired = ExpiredVersions.parse(text);
        if (table.expired.isEmpty()) {
            throw new IllegalArgumentException("stoker.expired is empty");
        }
        table.expired.ranges().forEach(range -> requireVersion(table, range.by(), 1, "an expiry"));
    }

    /** A table without added fields has no list. */
    private static void readAdded(TableColumns table, @Nullable String text) {
        if (text == null) {
            return;
        }
        table.added = AddedFields.parse(text);
        if (table.added.isEmpty()) {
            throw new IllegalArgumentException("stoker.fields is empty");
        }
    }

    private static void requireVersion(TableColumns table, Long version, long least, String what) {
        if (version == null || version < least || version > table.version) {
            throw new IllegalArgumentException(what + " has version " + version + ", the table " + table.version);
        }
    }

    private static String text(Map<String, String> metadata, String key) {
        String text = metadata.get(key);
        if (text == null) {
            throw new IllegalArgumentException("no " + key);
        }
        return text;
    }

    private static void readColumns(ArrowFile arrow, TableColumns table, String file) throws CorruptDataException {
        ArrowColumn[] columns = new ArrowColumn[FIELDS.size()];
        Arrays.setAll(columns, arrow::column);
        table.reserve(arrow.rows());
        table.size = arrow.rows();
        for (int i = 0; i < table.size; i++) {
            table.ordinals[i] = columns[0].longAt(i);
            ByteBuffer id = columns[1].bytesAt(i).order(ByteOrder.BIG_ENDIAN);
            table.idHigh[i] = id.getLong();
            table.idLow[i] = id.getLong();
            table.addedIn[i] = columns[2].longAt(i);
            table.split[i] = columns[3].intAt(i);
            table.rows[i] = columns[5].intAt(i);
            table.liveRows[i] = columns[6].intAt(i);
            table.lengths[i] = Math.toIntExact(columns[7].longAt(i));
            table.crcs[i] = columns[8].intAt(i);
            table.headLengths[i] = Math.toIntExact(columns[9].longAt(i));
            table.headCrcs[i] = columns[10].intAt(i);
            table.largestRows[i] = Math.toIntExact(columns[11].longAt(i));
            if (!columns[12].isNull(i)) {
                table.removed.put(i, columns[12].intsAt(i));
            }
            readOverlay(columns, table, i, file);
            require(columns[4].booleanAt(i) == table.liveRows[i] > 0, file, i, "live contradicts live_rows");
            checkRow(table, i, file);
        }
    }

    private static void readOverlay(ArrowColumn[] columns, TableColumns table, int i, String file)
            throws CorruptDataException {
        boolean isNull = columns[13].isNull(i);
        require(
                columns[14].isNull(i) == isNull && columns[15].isNull(i) == isNull,
                file,
                i,
                "an overlay without length or checksum");
        if (isNull) {
            return;
        }
        require(table.liveRows[i] > 0, file, i, "a removed chunk with an overlay");
        ByteBuffer id = columns[13].bytesAt(i).order(ByteOrder.BIG_ENDIAN);
        UUID overlay = new UUID(id.getLong(), id.getLong());
        table.overlays.put(i, new ChunkOverlay(overlay, columns[14].longAt(i), columns[15].intAt(i)));
    }

    private static void checkRow(TableColumns table, int i, String file) throws CorruptDataException {
        require(table.ordinals[i] >= 0, file, i, "a negative ordinal");
        require(i == 0 || table.ordinals[i] > table.ordinals[i - 1], file, i, "ordinals do not ascend");
        require(table.addedIn[i] >= 1 && table.addedIn[i] <= table.version, file, i, "added in no version");
        require(table.split[i] >= 0 && table.split[i] < table.splits.size(), file, i, "an unknown split");
        require(table.rows[i] >= 1, file, i, "a chunk without rows");
        require(
                table.headLengths[i] >= 1 && table.headLengths[i] <= table.lengths[i],
                file,
                i,
                "a head beyond its file");
        require(table.largestRows[i] >= 0, file, i, "a row of negative length");
        int[] removed = table.removed.get(i);
        int gone = removed == null ? 0 : removed.length;
        boolean counts = table.liveRows[i] == 0 ? gone == 0 : table.liveRows[i] == table.rows[i] - gone;
        require(counts && (removed == null || gone > 0), file, i, "live_rows contradicts removed_rows");
        for (int r = 0; removed != null && r < gone; r++) {
            boolean ascends = r == 0 ? removed[0] >= 0 : removed[r] > removed[r - 1];
            require(ascends && removed[r] < table.rows[i], file, i, "removed_rows does not ascend within the chunk");
        }
    }

    private static void require(boolean holds, String file, int row, String problem) throws CorruptDataException {
        if (!holds) {
            throw new CorruptDataException(file + " is corrupt: row " + row + ": " + problem
                    + "; delete the file, it is rebuilt from the log");
        }
    }
}

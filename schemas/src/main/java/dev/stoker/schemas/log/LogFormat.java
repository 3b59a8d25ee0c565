package dev.stoker.schemas.log;

import dev.stoker.schemas.avro.AvroHeader;
import dev.stoker.schemas.avro.AvroInput;
import dev.stoker.schemas.avro.AvroOutput;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.crc.SelfChecksum;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.features.Requires;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Reads and writes the file of a log entry, an Avro object container of one block with one record:
 *
 * <pre>
 * header     metadata avro.schema, avro.codec = null, stoker.self = the self-checksum; sync = the dataset's id
 * 02         one record (zigzag of 1)
 * size       bytes of the record
 * record     format, dataset, version, ingest, operation, …: see SCHEMA
 * sync       16 bytes
 * </pre>
 *
 * Maps are written in ascending key order.
 */
final class LogFormat {

    static final String SCHEMA = "{\"type\":\"record\",\"name\":\"Commit\",\"namespace\":\"dev.stoker\",\"fields\":["
            + "{\"name\":\"format\",\"type\":\"int\"},"
            + "{\"name\":\"dataset\",\"type\":\"string\"},"
            + "{\"name\":\"version\",\"type\":\"long\"},"
            + "{\"name\":\"ingest\",\"type\":\"string\"},"
            + "{\"name\":\"operation\",\"type\":\"string\"},"
            + "{\"name\":\"committed_ms\",\"type\":\"long\"},"
            + "{\"name\":\"committed_by\",\"type\":\"string\"},"
            + "{\"name\":\"added\",\"type\":{\"type\":\"array\","
            + "\"items\":{\"type\":\"record\",\"name\":\"Added\",\"fields\":["
            + "{\"name\":\"ordinal\",\"type\":\"long\"},"
            + "{\"name\":\"id\",\"type\":{\"type\":\"fixed\",\"name\":\"ChunkId\",\"size\":16}},"
            + "{\"name\":\"split\",\"type\":\"string\"},"
            + "{\"name\":\"rows\",\"type\":\"int\"},"
            + "{\"name\":\"length\",\"type\":\"long\"},"
            + "{\"name\":\"crc32c\",\"type\":\"long\"},"
            + "{\"name\":\"head_length\",\"type\":\"long\"},"
            + "{\"name\":\"head_crc32c\",\"type\":\"long\"},"
            + "{\"name\":\"largest_row\",\"type\":\"long\"}]}}},"
            + "{\"name\":\"removed\",\"type\":{\"type\":\"array\","
            + "\"items\":{\"type\":\"record\",\"name\":\"Removed\",\"fields\":["
            + "{\"name\":\"ordinal\",\"type\":\"long\"},"
            + "{\"name\":\"rows\",\"type\":[\"null\",{\"type\":\"array\",\"items\":\"int\"}]}]}}},"
            + "{\"name\":\"updated\",\"type\":{\"type\":\"array\","
            + "\"items\":{\"type\":\"record\",\"name\":\"Updated\",\"fields\":["
            + "{\"name\":\"ordinal\",\"type\":\"long\"},"
            + "{\"name\":\"overlay\",\"type\":\"ChunkId\"},"
            + "{\"name\":\"length\",\"type\":\"long\"},"
            + "{\"name\":\"crc32c\",\"type\":\"long\"},"
            + "{\"name\":\"largest_row\",\"type\":\"long\"}]}}},"
            + "{\"name\":\"classes\",\"type\":{\"type\":\"map\",\"values\":{\"type\":\"array\",\"items\":\"string\"}}},"
            + "{\"name\":\"properties\",\"type\":{\"type\":\"map\",\"values\":\"string\"}}]}";

    private static final String KIND = "a Stoker log entry";

    /** Minimum bytes of an {@code Added}, of a {@code Removed} and of an {@code Updated}. */
    private static final int ADDED_BYTES = 24;

    private static final int REMOVED_BYTES = 2;

    private static final int UPDATED_BYTES = 20;

    private LogFormat() {}

    static byte[] encode(LogEntry entry) {
        AvroOutput entryBytes = new AvroOutput();
        writeEntry(entry, entryBytes);
        AvroOutput out = new AvroOutput();
        AvroOutput sync = new AvroOutput();
        sync.writeUuid(entry.dataset());
        new AvroHeader(metadata(SelfChecksum.PLACEHOLDER), sync.toByteArray()).write(out);
        out.writeLong(1);
        out.writeBytes(entryBytes.toByteArray());
        out.writeFixed(sync.toByteArray());
        return SelfChecksum.seal(out.toByteArray());
    }

    private static Map<String, String> metadata(String self) {
        Map<String, String> metadata = new LinkedHashMap<>();
        metadata.put("avro.schema", SCHEMA);
        metadata.put("avro.codec", "null");
        metadata.put("stoker.self", self);
        return metadata;
    }

    private static void writeEntry(LogEntry entry, AvroOutput out) {
        out.writeInt(LogEntry.FORMAT);
        out.writeString(entry.dataset().toString());
        out.writeLong(entry.version());
        out.writeString(entry.ingest());
        out.writeString(entry.operation().code());
        out.writeLong(entry.committedMs());
        out.writeString(entry.committedBy());
        writeCount(out, entry.added().size());
        for (AddedChunk chunk : entry.added()) {
            out.writeLong(chunk.ordinal());
            out.writeUuid(chunk.id());
            out.writeString(chunk.split());
            out.writeInt(chunk.rows());
            out.writeLong(chunk.length());
            out.writeLong(Integer.toUnsignedLong(chunk.crc32c()));
            out.writeLong(chunk.headLength());
            out.writeLong(Integer.toUnsignedLong(chunk.headCrc32c()));
            out.writeLong(chunk.largestRow());
        }
        endItems(out, entry.added().size());
        writeCount(out, entry.removed().size());
        for (RemovedRows removed : entry.removed()) {
            out.writeLong(removed.ordinal());
            int[] rows = removed.rows().orElse(null);
            out.writeLong(rows == null ? 0 : 1);
            if (rows != null) {
                writeCount(out, rows.length);
                for (int row : rows) {
                    out.writeInt(row);
                }
                endItems(out, rows.length);
            }
        }
        endItems(out, entry.removed().size());
        writeCount(out, entry.updated().size());
        for (UpdatedChunk updated : entry.updated()) {
            out.writeLong(updated.ordinal());
            out.writeUuid(updated.overlay().id());
            out.writeLong(updated.overlay().length());
            out.writeLong(Integer.toUnsignedLong(updated.overlay().crc32c()));
            out.writeLong(updated.largestRow());
        }
        endItems(out, entry.updated().size());
        writeCount(out, entry.classes().size());
        entry.classes().forEach((field, names) -> {
            out.writeString(field);
            writeCount(out, names.size());
            names.forEach(out::writeString);
            endItems(out, names.size());
        });
        endItems(out, entry.classes().size());
        writeCount(out, entry.properties().size());
        entry.properties().forEach((key, text) -> {
            out.writeString(key);
            out.writeString(text);
        });
        endItems(out, entry.properties().size());
    }

    private static void writeCount(AvroOutput out, int count) {
        out.writeLong(count);
    }

    private static void endItems(AvroOutput out, int count) {
        if (count > 0) {
            out.writeLong(0);
        }
    }

    static LogEntry decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        byte[] magic = AvroHeader.magic();
        SelfChecksum.verify(content, file, KIND, magic);
        AvroInput in = new AvroInput(content, magic.length, content.length, file);
        AvroHeader header = AvroHeader.readAfterMagic(in);
        if (!header.metadata().containsKey("stoker.self")) {
            throw new ForeignFileException(file, KIND, "its Avro header has no stoker.self");
        }
        if (in.readLong() != 1) {
            throw in.corrupt("the number of records", 1, "another");
        }
        int size = in.readItems(1);
        // The format comes first in every version of the record, so that it can be read before the schema is known.
        int start = in.position();
        int format = in.readInt();
        if (format > LogEntry.FORMAT) {
            throw new FormatTooNewException(file, Integer.toString(format), LogEntry.FORMAT);
        }
        if (format < 1) {
            throw in.corrupt("the format version", LogEntry.FORMAT, format);
        }
        checkFeatures(header, file);
        if (!header.metadata().equals(metadata(header.metadata().get("stoker.self")))) {
            throw in.corrupt("the header", "the header of format " + format, "another header");
        }
        LogEntry entry = readEntry(in);
        if (in.position() - start != size) {
            throw in.corrupt("the record's size", size, in.position() - start);
        }
        byte[] sync = in.readFixed(AvroHeader.SYNC_LENGTH);
        AvroOutput expected = new AvroOutput();
        expected.writeUuid(entry.dataset());
        if (!Arrays.equals(sync, header.sync()) || !Arrays.equals(sync, expected.toByteArray())) {
            throw in.corrupt("the sync bytes", "the dataset's id", "others");
        }
        in.expectEnd();
        return entry;
    }

    /** Checks the features before the schema, because an entry with an unknown feature may have another schema. */
    private static void checkFeatures(AvroHeader header, String file)
            throws CorruptDataException, FormatTooNewException {
        try {
            Requires.check(header.metadata(), file);
        } catch (IllegalArgumentException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
    }

    private static LogEntry readEntry(AvroInput in) throws CorruptDataException {
        try {
            UUID dataset = CanonicalUuid.parse(in.readString());
            long version = in.readLong();
            String ingest = in.readString();
            String code = in.readString();
            Operation operation = Operation.ofCode(code)
                    .orElseThrow(() -> new IllegalArgumentException("unknown operation '" + code + "'"));
            return new LogEntry(
                    dataset,
                    version,
                    ingest,
                    operation,
                    in.readLong(),
                    in.readString(),
                    readAdded(in),
                    readRemoved(in),
                    readUpdated(in),
                    readClasses(in),
                    readProperties(in));
        } catch (IllegalArgumentException e) {
            throw new CorruptDataException(in.file() + " is corrupt: " + e.getMessage(), e);
        }
    }

    private static List<AddedChunk> readAdded(AvroInput in) throws CorruptDataException {
        int count = in.readItems(ADDED_BYTES);
        List<AddedChunk> added = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            added.add(new AddedChunk(
                    in.readLong(),
                    in.readUuid(),
                    in.readString(),
                    in.readInt(),
                    in.readLong(),
                    readCrc(in),
                    in.readLong(),
                    readCrc(in),
                    in.readLong()));
        }
        in.endItems(count);
        return added;
    }

    private static int readCrc(AvroInput in) throws CorruptDataException {
        long crc = in.readLong();
        if (crc >>> 32 != 0) {
            throw in.corrupt("a CRC", "32 bits", crc);
        }
        return (int) crc;
    }

    private static List<RemovedRows> readRemoved(AvroInput in) throws CorruptDataException {
        int count = in.readItems(REMOVED_BYTES);
        List<RemovedRows> removed = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long ordinal = in.readLong();
            long branch = in.readLong();
            if (branch == 0) {
                removed.add(RemovedRows.wholeChunk(ordinal));
            } else if (branch == 1) {
                int[] rows = new int[in.readItems(1)];
                for (int r = 0; r < rows.length; r++) {
                    rows[r] = in.readInt();
                }
                in.endItems(rows.length);
                removed.add(RemovedRows.of(ordinal, rows));
            } else {
                throw in.corrupt("a union's branch", "0 or 1", branch);
            }
        }
        in.endItems(count);
        return removed;
    }

    private static List<UpdatedChunk> readUpdated(AvroInput in) throws CorruptDataException {
        int count = in.readItems(UPDATED_BYTES);
        List<UpdatedChunk> updated = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            updated.add(new UpdatedChunk(
                    in.readLong(), new ChunkOverlay(in.readUuid(), in.readLong(), readCrc(in)), in.readLong()));
        }
        in.endItems(count);
        return updated;
    }

    private static Map<String, List<String>> readClasses(AvroInput in) throws CorruptDataException {
        Map<String, List<String>> classes = new TreeMap<>();
        int fields = in.readItems(2);
        for (int f = 0; f < fields; f++) {
            String field = in.readString();
            int count = in.readItems(1);
            List<String> names = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                names.add(in.readString());
            }
            in.endItems(count);
            if (classes.put(field, names) != null) {
                throw in.corrupt("field " + field, "its classes once", "twice");
            }
        }
        in.endItems(fields);
        return classes;
    }

    private static Map<String, String> readProperties(AvroInput in) throws CorruptDataException {
        Map<String, String> properties = new TreeMap<>();
        int count = in.readItems(2);
        for (int i = 0; i < count; i++) {
            String key = in.readString();
            if (properties.put(key, in.readString()) != null) {
                throw in.corrupt("property " + key, "once", "twice");
            }
        }
        in.endItems(count);
        return properties;
    }
}

package dev.stoker.connectors.dataset;

import dev.stoker.flink.types.OpaqueType;
import dev.stoker.flink.types.Texts;
import dev.stoker.flink.types.ValueSerializer;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import java.io.IOException;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * u8 kind (0 chunk, 1 done, 2 skips, 3 removed), then the parts in order; texts as {@link Texts}, maps with their size
 * first.
 */
public final class PackReportSerializer extends ValueSerializer<PackReport> {

    public static final PackReportSerializer INSTANCE = new PackReportSerializer();

    /** Flink's view of the type. */
    public static final OpaqueType<PackReport> TYPE = OpaqueType.value(PackReport.class, INSTANCE);

    private static final long serialVersionUID = 1;
    private static final int CHUNK = 0;
    private static final int DONE = 1;
    private static final int SKIPS = 2;
    private static final int REMOVED = 3;

    @Override
    public PackReport createInstance() {
        return new PackReport.Done(0, 1, 0, Map.of(), Map.of(), Map.of());
    }

    @Override
    public void serialize(PackReport report, DataOutputView out) throws IOException {
        if (report instanceof PackReport.Chunk chunk) {
            out.writeByte(CHUNK);
            out.writeInt(chunk.task());
            out.writeInt(chunk.number());
            write(chunk.chunk(), out);
        } else if (report instanceof PackReport.Skips skips) {
            out.writeByte(SKIPS);
            out.writeInt(skips.task());
            Texts.write(skips.lines(), out);
        } else if (report instanceof PackReport.Removed removed) {
            out.writeByte(REMOVED);
            out.writeInt(removed.task());
            write(removed.rows(), out);
        } else {
            PackReport.Done done = (PackReport.Done) report;
            out.writeByte(DONE);
            out.writeInt(done.task());
            out.writeInt(done.tasks());
            out.writeInt(done.chunks());
            writeClasses(done.classes(), out);
            writeNotes(done.notes(), out);
            writeTexts(done.examples(), out);
        }
    }

    @Override
    public PackReport deserialize(DataInputView in) throws IOException {
        int kind = in.readByte();
        int task = in.readInt();
        if (kind == SKIPS) {
            return new PackReport.Skips(task, Texts.read(in));
        }
        if (kind == REMOVED) {
            return new PackReport.Removed(task, readRows(in));
        }
        int number = in.readInt();
        if (kind == CHUNK) {
            return new PackReport.Chunk(task, number, readChunk(in));
        }
        if (kind != DONE) {
            throw new IOException("A pack report of kind " + kind);
        }
        int chunks = in.readInt();
        return new PackReport.Done(task, number, chunks, readClasses(in), readNotes(in), readTexts(in));
    }

    public static void write(ChunkSummary chunk, DataOutputView out) throws IOException {
        out.writeLong(chunk.id().getMostSignificantBits());
        out.writeLong(chunk.id().getLeastSignificantBits());
        Texts.write(chunk.split(), out);
        out.writeInt(chunk.rows());
        out.writeLong(chunk.length());
        out.writeInt(chunk.crc32c());
        out.writeLong(chunk.headLength());
        out.writeInt(chunk.headCrc32c());
        out.writeLong(chunk.largestRow());
        ChunkOverlay overlay = chunk.overlay();
        out.writeBoolean(overlay != null);
        if (overlay != null) {
            out.writeLong(overlay.id().getMostSignificantBits());
            out.writeLong(overlay.id().getLeastSignificantBits());
            out.writeLong(overlay.length());
            out.writeInt(overlay.crc32c());
        }
        Texts.write(chunk.added().toString(), out);
    }

    public static ChunkSummary readChunk(DataInputView in) throws IOException {
        UUID id = new UUID(in.readLong(), in.readLong());
        String split = Texts.read(in);
        int rows = in.readInt();
        long length = in.readLong();
        int crc32c = in.readInt();
        long headLength = in.readLong();
        int headCrc32c = in.readInt();
        long largestRow = in.readLong();
        ChunkOverlay overlay = in.readBoolean()
                ? new ChunkOverlay(new UUID(in.readLong(), in.readLong()), in.readLong(), in.readInt())
                : null;
        AddedFields added = AddedFields.parse(Texts.read(in));
        return new ChunkSummary(id, split, rows, length, crc32c, headLength, headCrc32c, largestRow, overlay, added);
    }

    /** Writes single rows of a chunk. */
    public static void write(RemovedRows removed, DataOutputView out) throws IOException {
        int[] rows = removed.rows().orElseThrow();
        out.writeLong(removed.ordinal());
        out.writeInt(rows.length);
        for (int row : rows) {
            out.writeInt(row);
        }
    }

    /** Reads single rows of a chunk. */
    public static RemovedRows readRows(DataInputView in) throws IOException {
        long ordinal = in.readLong();
        int[] rows = new int[in.readInt()];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = in.readInt();
        }
        return RemovedRows.of(ordinal, rows);
    }

    public static void writeClasses(Map<String, SortedSet<String>> classes, DataOutputView out) throws IOException {
        out.writeInt(classes.size());
        for (Map.Entry<String, SortedSet<String>> field : classes.entrySet()) {
            Texts.write(field.getKey(), out);
            out.writeInt(field.getValue().size());
            for (String name : field.getValue()) {
                Texts.write(name, out);
            }
        }
    }

    public static Map<String, SortedSet<String>> readClasses(DataInputView in) throws IOException {
        Map<String, SortedSet<String>> classes = new TreeMap<>();
        for (int fields = in.readInt(); fields > 0; fields--) {
            String field = Texts.read(in);
            SortedSet<String> names = new TreeSet<>();
            for (int count = in.readInt(); count > 0; count--) {
                names.add(Texts.read(in));
            }
            classes.put(field, names);
        }
        return classes;
    }

    public static void writeNotes(Map<String, Long> notes, DataOutputView out) throws IOException {
        out.writeInt(notes.size());
        for (Map.Entry<String, Long> note : notes.entrySet()) {
            Texts.write(note.getKey(), out);
            out.writeLong(note.getValue());
        }
    }

    public static Map<String, Long> readNotes(DataInputView in) throws IOException {
        Map<String, Long> notes = new TreeMap<>();
        for (int count = in.readInt(); count > 0; count--) {
            notes.put(Texts.read(in), in.readLong());
        }
        return notes;
    }

    public static void writeTexts(Map<String, String> texts, DataOutputView out) throws IOException {
        out.writeInt(texts.size());
        for (Map.Entry<String, String> text : texts.entrySet()) {
            Texts.write(text.getKey(), out);
            Texts.write(text.getValue(), out);
        }
    }

    public static Map<String, String> readTexts(DataInputView in) throws IOException {
        Map<String, String> texts = new TreeMap<>();
        for (int count = in.readInt(); count > 0; count--) {
            texts.put(Texts.read(in), Texts.read(in));
        }
        return texts;
    }

    @Override
    public TypeSerializerSnapshot<PackReport> snapshotConfiguration() {
        return new Snapshot();
    }

    /** What Flink keeps of this serializer. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<PackReport> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}

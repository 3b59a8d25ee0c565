package dev.stoker.connectors.dataset;

import dev.stoker.flink.types.OpaqueType;
import dev.stoker.flink.types.Texts;
import dev.stoker.flink.types.ValueSerializer;
import dev.stoker.schemas.chunk.ChunkSummary;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** i64 checkpoint, chunks, removed keys, classes as in {@link PackReportSerializer}, offsets, i64 dead letters. */
public final class TopicReportSerializer extends ValueSerializer<TopicReport> {

    public static final TopicReportSerializer INSTANCE = new TopicReportSerializer();

    /** Flink's view of the type. */
    public static final OpaqueType<TopicReport> TYPE = OpaqueType.value(TopicReport.class, INSTANCE);

    private static final long serialVersionUID = 1;

    @Override
    public TopicReport createInstance() {
        return new TopicReport(0, List.of(), Map.of(), new TreeMap<>(), 0);
    }

    @Override
    public void serialize(TopicReport report, DataOutputView out) throws IOException {
        out.writeLong(report.checkpoint());
        writeChunks(report.chunks(), out);
        writeKeys(report.removed(), out);
        PackReportSerializer.writeClasses(report.classes(), out);
        writeOffsets(report.next(), out);
        out.writeLong(report.deadLetters());
    }

    @Override
    public TopicReport deserialize(DataInputView in) throws IOException {
        long checkpoint = in.readLong();
        List<ChunkSummary> chunks = readChunks(in);
        List<String> removed = readKeys(in);
        Map<String, SortedSet<String>> classes = PackReportSerializer.readClasses(in);
        SortedMap<Integer, Long> next = readOffsets(in);
        return new TopicReport(checkpoint, chunks, removed, classes, next, in.readLong());
    }

    public static void writeKeys(List<String> keys, DataOutputView out) throws IOException {
        out.writeInt(keys.size());
        for (String key : keys) {
            Texts.write(key, out);
        }
    }

    public static List<String> readKeys(DataInputView in) throws IOException {
        List<String> keys = new ArrayList<>();
        for (int count = in.readInt(); count > 0; count--) {
            keys.add(Texts.read(in));
        }
        return keys;
    }

    public static void writeChunks(List<ChunkSummary> chunks, DataOutputView out) throws IOException {
        out.writeInt(chunks.size());
        for (ChunkSummary chunk : chunks) {
            PackReportSerializer.write(chunk, out);
        }
    }

    public static List<ChunkSummary> readChunks(DataInputView in) throws IOException {
        List<ChunkSummary> chunks = new ArrayList<>();
        for (int count = in.readInt(); count > 0; count--) {
            chunks.add(PackReportSerializer.readChunk(in));
        }
        return chunks;
    }

    /** i32 number, then i32 partition and i64 offset of each. */
    public static void writeOffsets(SortedMap<Integer, Long> offsets, DataOutputView out) throws IOException {
        out.writeInt(offsets.size());
        for (Map.Entry<Integer, Long> entry : offsets.entrySet()) {
            out.writeInt(entry.getKey());
            out.writeLong(entry.getValue());
        }
    }

    public static TreeMap<Integer, Long> readOffsets(DataInputView in) throws IOException {
        TreeMap<Integer, Long> offsets = new TreeMap<>();
        for (int count = in.readInt(); count > 0; count--) {
            int partition = in.readInt();
            offsets.put(partition, in.readLong());
        }
        return offsets;
    }

    @Override
    public TypeSerializerSnapshot<TopicReport> snapshotConfiguration() {
        return new Snapshot();
    }

    /** What Flink keeps of this serializer. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<TopicReport> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}

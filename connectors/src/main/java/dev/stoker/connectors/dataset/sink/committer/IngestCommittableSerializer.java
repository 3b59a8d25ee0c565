package dev.stoker.connectors.dataset.sink.committer;

import dev.stoker.connectors.dataset.PackReportSerializer;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Version 2: part, number of chunks, the chunks, number of chunks with removed rows, these rows, classes, notes,
 * examples, as in {@link PackReportSerializer}. Version 1 has no removed rows.
 */
public final class IngestCommittableSerializer implements SimpleVersionedSerializer<IngestCommittable> {

    private static final int VERSION = 2;

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(IngestCommittable committable) throws IOException {
        DataOutputSerializer out =
                new DataOutputSerializer(64 + 80 * committable.chunks().size());
        out.writeUTF(committable.part().ingest());
        out.writeBoolean(committable.part().isLast());
        out.writeInt(committable.chunks().size());
        for (ChunkSummary chunk : committable.chunks()) {
            PackReportSerializer.write(chunk, out);
        }
        out.writeInt(committable.removed().size());
        for (RemovedRows removed : committable.removed()) {
            PackReportSerializer.write(removed, out);
        }
        PackReportSerializer.writeClasses(committable.classes(), out);
        PackReportSerializer.writeNotes(committable.notes(), out);
        PackReportSerializer.writeTexts(committable.examples(), out);
        return out.getCopyOfBuffer();
    }

    @Override
    public IngestCommittable deserialize(int version, byte[] serialized) throws IOException {
        if (version < 1 || version > VERSION) {
            throw new IOException("A committable of an ingest has version " + version + ", this code reads " + VERSION);
        }
        DataInputDeserializer in = new DataInputDeserializer(serialized);
        IngestCommittable.Part part = new IngestCommittable.Part(in.readUTF(), in.readBoolean());
        List<ChunkSummary> chunks = new ArrayList<>();
        for (int count = in.readInt(); count > 0; count--) {
            chunks.add(PackReportSerializer.readChunk(in));
        }
        List<RemovedRows> removed = new ArrayList<>();
        for (int count = version == 1 ? 0 : in.readInt(); count > 0; count--) {
            removed.add(PackReportSerializer.readRows(in));
        }
        return new IngestCommittable(
                part,
                chunks,
                removed,
                PackReportSerializer.readClasses(in),
                PackReportSerializer.readNotes(in),
                PackReportSerializer.readTexts(in));
    }
}

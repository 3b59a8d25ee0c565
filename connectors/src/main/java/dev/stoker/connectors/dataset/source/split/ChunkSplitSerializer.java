package dev.stoker.connectors.dataset.source.split;

import dev.stoker.connectors.dataset.PackReportSerializer;
import dev.stoker.schemas.chunk.ChunkSummary;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Version 1: i64 version, i32 row, i32 number of chunks; of each chunk i64 ordinal, its summary as in
 * {@link PackReportSerializer}, i32 number of removed rows, i32 each.
 */
public final class ChunkSplitSerializer implements SimpleVersionedSerializer<ChunkSplit> {

    public static final ChunkSplitSerializer INSTANCE = new ChunkSplitSerializer();

    private static final int VERSION = 1;

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(ChunkSplit split) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(128);
        write(split, out);
        return out.getCopyOfBuffer();
    }

    @Override
    public ChunkSplit deserialize(int version, byte[] serialized) throws IOException {
        if (version != VERSION) {
            throw new IOException("A split of a dataset has version " + version + ", this code reads " + VERSION);
        }
        return read(new DataInputDeserializer(serialized));
    }

    public static void write(ChunkSplit split, DataOutputView out) throws IOException {
        out.writeLong(split.version());
        out.writeInt(split.row());
        out.writeInt(split.chunks().size());
        for (SourceChunk chunk : split.chunks()) {
            out.writeLong(chunk.ordinal());
            PackReportSerializer.write(chunk.summary(), out);
            out.writeInt(chunk.removedRows().length);
            for (int row : chunk.removedRows()) {
                out.writeInt(row);
            }
        }
    }

    public static ChunkSplit read(DataInputView in) throws IOException {
        long version = in.readLong();
        int row = in.readInt();
        List<SourceChunk> chunks = new ArrayList<>();
        for (int count = in.readInt(); count > 0; count--) {
            long ordinal = in.readLong();
            ChunkSummary summary = PackReportSerializer.readChunk(in);
            int[] removed = new int[in.readInt()];
            for (int i = 0; i < removed.length; i++) {
                removed[i] = in.readInt();
            }
            chunks.add(new SourceChunk(ordinal, summary, removed));
        }
        return new ChunkSplit(version, chunks, row);
    }
}

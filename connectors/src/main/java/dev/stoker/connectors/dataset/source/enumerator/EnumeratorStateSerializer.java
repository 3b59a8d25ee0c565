package dev.stoker.connectors.dataset.source.enumerator;

import dev.stoker.connectors.dataset.source.split.ChunkSplit;
import dev.stoker.connectors.dataset.source.split.ChunkSplitSerializer;
import dev.stoker.flink.types.Texts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Version 1: dataset, i64 version, i32 assigned, i32 number of splits, each as {@link ChunkSplitSerializer}. */
public final class EnumeratorStateSerializer implements SimpleVersionedSerializer<EnumeratorState> {

    public static final EnumeratorStateSerializer INSTANCE = new EnumeratorStateSerializer();

    private static final int VERSION = 1;

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(EnumeratorState state) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        Texts.write(state.dataset(), out);
        out.writeLong(state.version());
        out.writeInt(state.assigned());
        out.writeInt(state.returned().size());
        for (ChunkSplit split : state.returned()) {
            ChunkSplitSerializer.write(split, out);
        }
        return out.getCopyOfBuffer();
    }

    @Override
    public EnumeratorState deserialize(int version, byte[] serialized) throws IOException {
        if (version != VERSION) {
            throw new IOException(
                    "The state of a dataset source has version " + version + ", this code reads " + VERSION);
        }
        DataInputDeserializer in = new DataInputDeserializer(serialized);
        String dataset = Texts.read(in);
        long read = in.readLong();
        int assigned = in.readInt();
        List<ChunkSplit> returned = new ArrayList<>();
        for (int count = in.readInt(); count > 0; count--) {
            returned.add(ChunkSplitSerializer.read(in));
        }
        return new EnumeratorState(dataset, read, assigned, returned);
    }
}

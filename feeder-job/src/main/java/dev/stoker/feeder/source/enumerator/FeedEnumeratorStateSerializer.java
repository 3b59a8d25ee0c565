package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.source.split.LaneSplit;
import dev.stoker.feeder.source.split.LaneSplitSerializer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Writes and reads {@link FeedEnumeratorState}; version 2. */
public final class FeedEnumeratorStateSerializer implements SimpleVersionedSerializer<FeedEnumeratorState> {

    private static final int VERSION = 2;

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(FeedEnumeratorState state) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(256);
        out.writeInt(state.pending().size());
        for (LaneSplit split : state.pending()) {
            LaneSplitSerializer.write(split, out);
        }
        LaneSplitSerializer.writeProgress(state.progress(), out);
        return out.getCopyOfBuffer();
    }

    @Override
    public FeedEnumeratorState deserialize(int version, byte[] bytes) throws IOException {
        LaneSplitSerializer.requireKnown("lane enumerator", version, VERSION);
        DataInputDeserializer in = new DataInputDeserializer(bytes);
        int count = in.readInt();
        List<LaneSplit> pending = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            pending.add(LaneSplitSerializer.read(in));
        }
        return new FeedEnumeratorState(pending, LaneSplitSerializer.readProgress(in));
    }
}

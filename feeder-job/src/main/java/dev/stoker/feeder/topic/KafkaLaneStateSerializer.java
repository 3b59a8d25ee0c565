package dev.stoker.feeder.topic;

import dev.stoker.feeder.source.split.LaneSplitSerializer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Writes and reads {@link KafkaLaneState}; version 2, with the lanes of that version. */
public final class KafkaLaneStateSerializer implements SimpleVersionedSerializer<KafkaLaneState> {

    private static final int VERSION = 2;

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(KafkaLaneState state) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(256);
        out.writeUTF(state.topicId());
        out.writeInt(state.pending().size());
        for (KafkaLane lane : state.pending()) {
            KafkaLaneSerializer.write(lane, out);
        }
        return out.getCopyOfBuffer();
    }

    @Override
    public KafkaLaneState deserialize(int version, byte[] bytes) throws IOException {
        LaneSplitSerializer.requireKnown("Kafka lane enumerator", version, VERSION);
        DataInputDeserializer in = new DataInputDeserializer(bytes);
        String topicId = in.readUTF();
        int count = in.readInt();
        List<KafkaLane> pending = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            pending.add(KafkaLaneSerializer.read(in));
        }
        return new KafkaLaneState(topicId, pending);
    }
}

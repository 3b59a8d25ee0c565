package dev.stoker.feeder.topic;

import dev.stoker.feeder.source.split.LaneSplitSerializer;
import dev.stoker.schemas.kafka.EpochCounts;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordPosition;
import java.io.IOException;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/** Writes and reads {@link KafkaLane}s; version 2, which has the epoch's version behind what version 1 has. */
public final class KafkaLaneSerializer implements SimpleVersionedSerializer<KafkaLane> {

    private static final int VERSION = 2;

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(KafkaLane lane) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        write(lane, out);
        return out.getCopyOfBuffer();
    }

    @Override
    public KafkaLane deserialize(int version, byte[] bytes) throws IOException {
        LaneSplitSerializer.requireKnown("Kafka lane", version, VERSION);
        return read(new DataInputDeserializer(bytes));
    }

    static void write(KafkaLane lane, DataOutputView out) throws IOException {
        out.writeInt(lane.lane());
        out.writeLong(lane.next().epoch());
        out.writeUTF(lane.next().kind().text());
        out.writeLong(lane.next().batch());
        out.writeInt(lane.next().part());
        out.writeLong(lane.counts().records());
        out.writeLong(lane.counts().rows());
        out.writeLong(lane.counts().skipped());
        out.writeLong(lane.version());
    }

    static KafkaLane read(DataInputView in) throws IOException {
        return new KafkaLane(
                in.readInt(),
                new RecordPosition(in.readLong(), kind(in.readUTF()), in.readLong(), in.readInt()),
                new EpochCounts(in.readLong(), in.readLong(), in.readLong()),
                in.readLong());
    }

    private static RecordKind kind(String text) throws IOException {
        for (RecordKind kind : RecordKind.values()) {
            if (kind.text().equals(text)) {
                return kind;
            }
        }
        throw new IOException("state of a Kafka lane has a record of kind '" + text + "'");
    }
}

package dev.stoker.connectors.kafka;

import dev.stoker.flink.types.OpaqueType;
import dev.stoker.flink.types.Texts;
import dev.stoker.flink.types.ValueSerializer;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes records between tasks that are not chained: partition, count of headers, each as name and bytes, the value.
 */
public final class TopicRecordSerializer extends ValueSerializer<TopicRecord> {

    static final TopicRecordSerializer INSTANCE = new TopicRecordSerializer();

    /** Flink's view of the type. */
    public static final OpaqueType<TopicRecord> TYPE = OpaqueType.value(TopicRecord.class, INSTANCE);

    private static final long serialVersionUID = 1;

    @Override
    public TopicRecord createInstance() {
        return new TopicRecord(0, Map.of(), new byte[0]);
    }

    @Override
    public void serialize(TopicRecord record, DataOutputView out) throws IOException {
        out.writeInt(record.partition());
        out.writeInt(record.headers().size());
        for (Map.Entry<String, byte[]> header : record.headers().entrySet()) {
            Texts.write(header.getKey(), out);
            writeBytes(header.getValue(), out);
        }
        writeBytes(record.value(), out);
    }

    @Override
    public TopicRecord deserialize(DataInputView in) throws IOException {
        int partition = in.readInt();
        int count = in.readInt();
        Map<String, byte[]> headers = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            headers.put(Texts.read(in), readBytes(in));
        }
        return new TopicRecord(partition, headers, readBytes(in));
    }

    @Override
    public TypeSerializerSnapshot<TopicRecord> snapshotConfiguration() {
        return new Snapshot();
    }

    private static void writeBytes(byte[] bytes, DataOutputView out) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static byte[] readBytes(DataInputView in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return bytes;
    }

    /** Flink's snapshot of this serializer. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<TopicRecord> {
        /** For Flink. */
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}

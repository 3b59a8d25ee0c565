package dev.stoker.connectors.kafka;

import dev.stoker.flink.types.OpaqueType;
import dev.stoker.flink.types.Texts;
import dev.stoker.flink.types.ValueSerializer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;

/**
 * i32 partition, i64 offset, i64 time, key, value, i32 headers, each with name and value; bytes as i32 length (-1:
 * null).
 */
public final class SourceRecordSerializer extends ValueSerializer<SourceRecord> {

    static final SourceRecordSerializer INSTANCE = new SourceRecordSerializer();

    /** Flink's view of the type. */
    public static final OpaqueType<SourceRecord> TYPE = OpaqueType.value(SourceRecord.class, INSTANCE);

    private static final long serialVersionUID = 1;

    @Override
    public SourceRecord createInstance() {
        return new SourceRecord(0, 0, -1, null, null, List.of());
    }

    @Override
    public void serialize(SourceRecord record, DataOutputView out) throws IOException {
        out.writeInt(record.partition());
        out.writeLong(record.offset());
        out.writeLong(record.timestampMs());
        write(record.key(), out);
        write(record.value(), out);
        out.writeInt(record.headers().size());
        for (SourceRecord.Header header : record.headers()) {
            Texts.write(header.name(), out);
            write(header.value(), out);
        }
    }

    @Override
    public SourceRecord deserialize(DataInputView in) throws IOException {
        int partition = in.readInt();
        long offset = in.readLong();
        long timestampMs = in.readLong();
        byte[] key = read(in);
        byte[] value = read(in);
        List<SourceRecord.Header> headers = new ArrayList<>();
        for (int count = in.readInt(); count > 0; count--) {
            headers.add(new SourceRecord.Header(Texts.read(in), read(in)));
        }
        return new SourceRecord(partition, offset, timestampMs, key, value, headers);
    }

    private static void write(byte @Nullable [] bytes, DataOutputView out) throws IOException {
        out.writeInt(bytes == null ? -1 : bytes.length);
        if (bytes != null) {
            out.write(bytes);
        }
    }

    private static byte @Nullable [] read(DataInputView in) throws IOException {
        int length = in.readInt();
        if (length < 0) {
            return null;
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    @Override
    public TypeSerializerSnapshot<SourceRecord> snapshotConfiguration() {
        return new Snapshot();
    }

    /** What Flink keeps of this serializer. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<SourceRecord> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}

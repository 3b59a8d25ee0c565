package dev.stoker.connectors.kafka;

import dev.stoker.flink.types.OpaqueType;
import dev.stoker.flink.types.Texts;
import dev.stoker.flink.types.ValueSerializer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;

/**
 * i32 partition, i64 end, i32 records, each with i64 offset, i64 time, key, value, i32 headers, each with name and
 * value; bytes as i32 length (-1: null). Used only if a reader is not chained to the operator that takes its fetches.
 */
public final class PartitionFetchSerializer extends ValueSerializer<PartitionFetch> {

    static final PartitionFetchSerializer INSTANCE = new PartitionFetchSerializer();

    /** Flink's view of the type. */
    public static final OpaqueType<PartitionFetch> TYPE = OpaqueType.value(PartitionFetch.class, INSTANCE);

    private static final long serialVersionUID = 1;

    @Override
    public PartitionFetch createInstance() {
        return new PartitionFetch(0, List.of(), 0);
    }

    @Override
    public void serialize(PartitionFetch fetch, DataOutputView out) throws IOException {
        out.writeInt(fetch.partition());
        out.writeLong(fetch.end());
        out.writeInt(fetch.records().size());
        for (SourceRecord record : fetch.records()) {
            out.writeLong(record.offset());
            out.writeLong(record.timestampMs());
            write(record.key(), out);
            write(record.value(), out);
            out.writeInt(record.headers().size());
            for (SourceRecord.Header header : record.headers()) {
                Texts.write(header.name(), out);
                write(header.value() == null ? null : ByteBuffer.wrap(header.value()), out);
            }
        }
    }

    @Override
    public PartitionFetch deserialize(DataInputView in) throws IOException {
        int partition = in.readInt();
        long end = in.readLong();
        List<SourceRecord> records = new ArrayList<>();
        for (int count = in.readInt(); count > 0; count--) {
            records.add(record(partition, in));
        }
        return new PartitionFetch(partition, records, end);
    }

    private static SourceRecord record(int partition, DataInputView in) throws IOException {
        long offset = in.readLong();
        long timestampMs = in.readLong();
        byte[] key = read(in);
        byte[] value = read(in);
        List<SourceRecord.Header> headers = new ArrayList<>();
        for (int count = in.readInt(); count > 0; count--) {
            headers.add(new SourceRecord.Header(Texts.read(in), read(in)));
        }
        return new SourceRecord(partition, offset, timestampMs, wrap(key), wrap(value), headers);
    }

    private static void write(@Nullable ByteBuffer bytes, DataOutputView out) throws IOException {
        out.writeInt(bytes == null ? -1 : bytes.remaining());
        if (bytes != null) {
            out.write(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
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

    private static @Nullable ByteBuffer wrap(byte @Nullable [] bytes) {
        return bytes == null ? null : ByteBuffer.wrap(bytes);
    }

    @Override
    public TypeSerializerSnapshot<PartitionFetch> snapshotConfiguration() {
        return new Snapshot();
    }

    /** What Flink keeps of this serializer. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<PartitionFetch> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}

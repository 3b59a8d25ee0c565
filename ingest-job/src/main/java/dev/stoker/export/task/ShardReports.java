package dev.stoker.export.task;

import dev.stoker.flink.types.OpaqueType;
import dev.stoker.flink.types.ValueSerializer;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializer of {@link ShardReport}: i32 shard; i64 rows, excluded, files, bytes. */
public final class ShardReports extends ValueSerializer<ShardReport> {
    static final ShardReports INSTANCE = new ShardReports();

    /** Flink's view of the type. */
    public static final OpaqueType<ShardReport> TYPE = OpaqueType.value(ShardReport.class, INSTANCE);

    private static final long serialVersionUID = 1;

    @Override
    public ShardReport createInstance() {
        return new ShardReport(0, 0, 0, 0, 0);
    }

    @Override
    public void serialize(ShardReport report, DataOutputView out) throws IOException {
        out.writeInt(report.shard());
        out.writeLong(report.rows());
        out.writeLong(report.excluded());
        out.writeLong(report.files());
        out.writeLong(report.bytes());
    }

    @Override
    public ShardReport deserialize(DataInputView in) throws IOException {
        return new ShardReport(in.readInt(), in.readLong(), in.readLong(), in.readLong(), in.readLong());
    }

    @Override
    public TypeSerializerSnapshot<ShardReport> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The state of this serializer, which Flink stores. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<ShardReport> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}

package dev.stoker.ingest.rows.pack;

import dev.stoker.flink.types.OpaqueType;
import dev.stoker.flink.types.ValueSerializer;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** i64 hash, u8 kind, i64 place, UTF split, i32 length of the key, i32 length of the data, key, data; big-endian. */
public final class HashedRowSerializer extends ValueSerializer<HashedRow> {
    public static final HashedRowSerializer INSTANCE = new HashedRowSerializer();

    /** Flink's view of the type. */
    public static final OpaqueType<HashedRow> TYPE = OpaqueType.value(HashedRow.class, INSTANCE);

    private static final long serialVersionUID = 1;
    private static final HashedRow.Kind[] KINDS = HashedRow.Kind.values();

    @Override
    public HashedRow createInstance() {
        return HashedRow.taken(0, new byte[0], 0, 0);
    }

    @Override
    public void serialize(HashedRow row, DataOutputView out) throws IOException {
        out.writeLong(row.hash());
        out.writeByte(row.kind().ordinal());
        out.writeLong(row.place());
        out.writeUTF(row.split());
        out.writeInt(row.key().length);
        out.writeInt(row.data().length);
        out.write(row.key());
        out.write(row.data());
    }

    @Override
    public HashedRow deserialize(DataInputView in) throws IOException {
        long hash = in.readLong();
        HashedRow.Kind kind = KINDS[in.readByte()];
        long place = in.readLong();
        String split = in.readUTF();
        byte[] key = new byte[in.readInt()];
        byte[] data = new byte[in.readInt()];
        in.readFully(key);
        in.readFully(data);
        return new HashedRow(hash, kind, place, key, split, data);
    }

    @Override
    public void copy(DataInputView in, DataOutputView out) throws IOException {
        out.writeLong(in.readLong());
        out.writeByte(in.readByte());
        out.writeLong(in.readLong());
        out.writeUTF(in.readUTF());
        int keyLength = in.readInt();
        int dataLength = in.readInt();
        out.writeInt(keyLength);
        out.writeInt(dataLength);
        out.write(in, keyLength);
        out.write(in, dataLength);
    }

    @Override
    public TypeSerializerSnapshot<HashedRow> snapshotConfiguration() {
        return new Snapshot();
    }

    /** What Flink keeps of this serializer. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<HashedRow> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}

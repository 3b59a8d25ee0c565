package dev.stoker.connectors.files;

import dev.stoker.flink.types.OpaqueType;
import dev.stoker.flink.types.ValueSerializer;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * u8 kind, i32 place, i32 count, i64 bytes, i32 length of the directory, i32 length of the data, directory, data;
 * big-endian as Flink writes.
 */
public final class PathBundleSerializer extends ValueSerializer<PathBundle> {

    static final PathBundleSerializer INSTANCE = new PathBundleSerializer();

    /** Flink's view of the type. */
    public static final OpaqueType<PathBundle> TYPE = OpaqueType.value(PathBundle.class, INSTANCE);

    private static final long serialVersionUID = 1;
    private static final byte[] NOTHING = {};
    private static final PathBundle.Kind[] KINDS = PathBundle.Kind.values();

    @Override
    public PathBundle createInstance() {
        return new PathBundle(PathBundle.Kind.FILES, 0, NOTHING, 0, 0, NOTHING);
    }

    @Override
    public void serialize(PathBundle bundle, DataOutputView out) throws IOException {
        out.writeByte(bundle.kind().ordinal());
        out.writeInt(bundle.place());
        out.writeInt(bundle.count());
        out.writeLong(bundle.bytes());
        out.writeInt(bundle.directory().length);
        out.writeInt(bundle.data().length);
        out.write(bundle.directory());
        out.write(bundle.data());
    }

    @Override
    public PathBundle deserialize(DataInputView in) throws IOException {
        PathBundle.Kind kind = KINDS[in.readByte()];
        int place = in.readInt();
        int count = in.readInt();
        long bytes = in.readLong();
        int directoryLength = in.readInt();
        int dataLength = in.readInt();
        byte[] directory = directoryLength == 0 ? NOTHING : new byte[directoryLength];
        in.readFully(directory);
        byte[] data = new byte[dataLength];
        in.readFully(data);
        return new PathBundle(kind, place, directory, count, bytes, data);
    }

    @Override
    public void copy(DataInputView in, DataOutputView out) throws IOException {
        out.writeByte(in.readByte());
        out.writeInt(in.readInt());
        out.writeInt(in.readInt());
        out.writeLong(in.readLong());
        int directoryLength = in.readInt();
        int dataLength = in.readInt();
        out.writeInt(directoryLength);
        out.writeInt(dataLength);
        out.write(in, directoryLength + dataLength);
    }

    @Override
    public TypeSerializerSnapshot<PathBundle> snapshotConfiguration() {
        return new Snapshot();
    }

    /** What Flink keeps of this serializer. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<PathBundle> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}

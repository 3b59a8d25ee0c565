package dev.stoker.connectors.files;

import dev.stoker.flink.types.OpaqueType;
import dev.stoker.flink.types.ValueSerializer;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes keys so that the order of their bytes is the order of the listing. Flink compares serialized keys as signed
 * bytes, so the highest bit of each byte is inverted. Layout: the directory, two bytes of 0 (less than every byte that
 * could continue the path), the run as big-endian i32.
 */
public final class ListedKeySerializer extends ValueSerializer<ListedKey> {

    static final ListedKeySerializer INSTANCE = new ListedKeySerializer();

    /** Flink's view of the type. */
    public static final OpaqueType<ListedKey> TYPE = OpaqueType.key(ListedKey.class, INSTANCE);

    private static final long serialVersionUID = 1;
    private static final int TURN = 0x80;

    @Override
    public ListedKey createInstance() {
        return new ListedKey(new byte[0], 0);
    }

    @Override
    public void serialize(ListedKey key, DataOutputView out) throws IOException {
        for (byte b : key.directory()) {
            out.writeByte(b ^ TURN);
        }
        out.writeByte(TURN);
        out.writeByte(TURN);
        for (int shift = 24; shift >= 0; shift -= 8) {
            out.writeByte(key.run() >>> shift ^ TURN);
        }
    }

    @Override
    public ListedKey deserialize(DataInputView in) {
        throw new UnsupportedOperationException("a sort key is only compared, never read");
    }

    @Override
    public TypeSerializerSnapshot<ListedKey> snapshotConfiguration() {
        return new Snapshot();
    }

    /** What Flink keeps of this serializer. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<ListedKey> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}

package dev.stoker.ingest.rows.read;

import dev.stoker.flink.types.OpaqueType;
import dev.stoker.flink.types.Texts;
import dev.stoker.flink.types.ValueSerializer;
import dev.stoker.ingest.rows.source.SourceFile;
import java.io.IOException;
import java.util.ArrayList;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * i32 number, i32 count; per part the root and path of its file as texts, i64 length of the file, its split and
 * index as texts, i32 place, number, i64 offset, bytes, rows, memory.
 */
public final class RowRunSerializer extends ValueSerializer<RowRun> {
    static final RowRunSerializer INSTANCE = new RowRunSerializer();

    /** Flink's view of the type. */
    public static final OpaqueType<RowRun> TYPE = OpaqueType.value(RowRun.class, INSTANCE);

    private static final long serialVersionUID = 1;

    @Override
    public RowRun createInstance() {
        return new RowRun(0, new ArrayList<>());
    }

    @Override
    public void serialize(RowRun run, DataOutputView out) throws IOException {
        out.writeInt(run.number());
        out.writeInt(run.pieces().size());
        for (RowRun.Piece piece : run.pieces()) {
            Texts.write(piece.file().root(), out);
            Texts.write(piece.file().path(), out);
            out.writeLong(piece.file().length());
            Texts.write(piece.file().split(), out);
            Texts.write(piece.file().index(), out);
            out.writeInt(piece.place());
            out.writeInt(piece.number());
            out.writeLong(piece.offset());
            out.writeLong(piece.bytes());
            out.writeLong(piece.rows());
            out.writeLong(piece.memoryBytes());
        }
    }

    @Override
    public RowRun deserialize(DataInputView in) throws IOException {
        int number = in.readInt();
        int count = in.readInt();
        ArrayList<RowRun.Piece> pieces = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            SourceFile file =
                    new SourceFile(Texts.read(in), Texts.read(in), in.readLong(), Texts.read(in), Texts.read(in));
            pieces.add(new RowRun.Piece(
                    file, in.readInt(), in.readInt(), in.readLong(), in.readLong(), in.readLong(), in.readLong()));
        }
        return new RowRun(number, pieces);
    }

    @Override
    public void copy(DataInputView in, DataOutputView out) throws IOException {
        serialize(deserialize(in), out);
    }

    @Override
    public TypeSerializerSnapshot<RowRun> snapshotConfiguration() {
        return new Snapshot();
    }

    /** What Flink keeps of this serializer. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<RowRun> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}

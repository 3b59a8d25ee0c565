package dev.stoker.connectors.files.source.split;

import dev.stoker.flink.types.Texts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/** Version 1: path, number of jumps, per jump its two ends; texts as a length in bytes and UTF-8. */
public final class DirectorySplitSerializer implements SimpleVersionedSerializer<DirectorySplit> {

    public static final DirectorySplitSerializer INSTANCE = new DirectorySplitSerializer();

    private static final int VERSION = 1;

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(DirectorySplit split) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        write(split, out);
        return out.getCopyOfBuffer();
    }

    @Override
    public DirectorySplit deserialize(int version, byte[] serialized) throws IOException {
        if (version != VERSION) {
            throw new IOException("A directory split has version " + version + ", this code reads " + VERSION);
        }
        return read(new DataInputDeserializer(serialized));
    }

    public static void write(DirectorySplit split, DataOutputView out) throws IOException {
        Texts.write(split.path(), out);
        out.writeInt(split.jumps().size());
        for (DirectorySplit.Jump jump : split.jumps()) {
            Texts.write(jump.from(), out);
            Texts.write(jump.to(), out);
        }
    }

    public static DirectorySplit read(DataInputView in) throws IOException {
        String path = Texts.read(in);
        int count = in.readInt();
        List<DirectorySplit.Jump> jumps = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            jumps.add(new DirectorySplit.Jump(Texts.read(in), Texts.read(in)));
        }
        return new DirectorySplit(path, jumps);
    }
}

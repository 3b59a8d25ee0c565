package dev.stoker.connectors.files.source.enumerator;

import dev.stoker.connectors.files.source.split.DirectorySplit;
import dev.stoker.connectors.files.source.split.DirectorySplitSerializer;
import dev.stoker.flink.types.Texts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Version 1: number of pending directories, each as a split; number of relisted ones, each as a text. */
public final class FileTreeStateSerializer implements SimpleVersionedSerializer<FileTreeState> {

    public static final FileTreeStateSerializer INSTANCE = new FileTreeStateSerializer();

    private static final int VERSION = 1;

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(FileTreeState state) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(1024);
        out.writeInt(state.pending().size());
        for (DirectorySplit split : state.pending()) {
            DirectorySplitSerializer.write(split, out);
        }
        out.writeInt(state.relisted().size());
        for (String path : state.relisted()) {
            Texts.write(path, out);
        }
        return out.getCopyOfBuffer();
    }

    @Override
    public FileTreeState deserialize(int version, byte[] serialized) throws IOException {
        if (version != VERSION) {
            throw new IOException("The state of a walk has version " + version + ", this code reads " + VERSION);
        }
        DataInputDeserializer in = new DataInputDeserializer(serialized);
        List<DirectorySplit> pending = new ArrayList<>();
        for (int i = in.readInt(); i > 0; i--) {
            pending.add(DirectorySplitSerializer.read(in));
        }
        Set<String> relisted = new HashSet<>();
        for (int i = in.readInt(); i > 0; i--) {
            relisted.add(Texts.read(in));
        }
        return new FileTreeState(pending, relisted);
    }
}

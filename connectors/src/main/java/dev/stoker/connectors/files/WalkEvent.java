package dev.stoker.connectors.files;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * From a reader to the enumerator: directories that have been listed, each with the sub-directories found in it. Flink
 * carries events with Java serialization; what is carried here is one array of bytes.
 */
final class WalkEvent implements SourceEvent {

    private static final long serialVersionUID = 1;

    /**
     * A directory that has been listed.
     *
     * @param path of the directory
     * @param found its sub-directories
     */
    record Listed(String path, List<DirectorySplit> found) {
        Listed {
            found = List.copyOf(found);
        }
    }

    private final byte[] bytes;

    private WalkEvent(byte[] bytes) {
        this.bytes = bytes;
    }

    static WalkEvent of(List<Listed> listed) {
        DataOutputSerializer out = new DataOutputSerializer(256);
        try {
            for (Listed directory : listed) {
                Texts.write(directory.path(), out);
                out.writeInt(directory.found().size());
                for (DirectorySplit found : directory.found()) {
                    DirectorySplitSerializer.write(found, out);
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("an array in memory cannot fail", e);
        }
        return new WalkEvent(out.getCopyOfBuffer());
    }

    List<Listed> listed() {
        List<Listed> listed = new ArrayList<>();
        DataInputDeserializer in = new DataInputDeserializer(bytes);
        try {
            while (in.available() > 0) {
                String path = Texts.read(in);
                int count = in.readInt();
                List<DirectorySplit> found = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    found.add(DirectorySplitSerializer.read(in));
                }
                listed.add(new Listed(path, found));
            }
        } catch (IOException e) {
            throw new IllegalStateException("A walk event cannot be read", e);
        }
        return listed;
    }
}

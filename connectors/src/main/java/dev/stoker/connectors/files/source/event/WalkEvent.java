package dev.stoker.connectors.files.source.event;

import dev.stoker.connectors.files.source.split.DirectorySplit;
import dev.stoker.connectors.files.source.split.DirectorySplitSerializer;
import dev.stoker.flink.types.Texts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * An event from a reader to the enumerator: listed directories, each with the sub-directories found in it. Flink
 * serializes events with Java serialization, so an event contains one array of bytes. The transport drops messages
 * above 10 MiB, so a directory with many sub-directories takes several events.
 */
public final class WalkEvent implements SourceEvent {

    private static final long serialVersionUID = 1;

    /** An event of at least this many bytes takes no more sub-directories. */
    private static final int FULL_BYTES = 1 << 20;

    /**
     * A directory that has been listed.
     *
     * @param path of the directory
     * @param found its sub-directories
     */
    public record Listed(String path, List<DirectorySplit> found) {
        public Listed {
            found = List.copyOf(found);
        }
    }

    /**
     * Some of a directory's sub-directories.
     *
     * @param path of the directory
     * @param found the sub-directories after those of the parts before
     * @param isLast whether this is the directory's last part
     */
    public record Part(String path, List<DirectorySplit> found, boolean isLast) {
        public Part {
            found = List.copyOf(found);
        }
    }

    private final byte[] bytes;

    private WalkEvent(byte[] bytes) {
        this.bytes = bytes;
    }

    /** The events that report these directories, to be sent in order. */
    public static List<WalkEvent> of(List<Listed> listed) {
        List<WalkEvent> events = new ArrayList<>();
        DataOutputSerializer out = new DataOutputSerializer(256);
        try {
            for (Listed directory : listed) {
                int next = 0;
                do {
                    int end = next;
                    DataOutputSerializer found = new DataOutputSerializer(256);
                    while (end < directory.found().size() && out.length() + found.length() < FULL_BYTES) {
                        DirectorySplitSerializer.write(directory.found().get(end++), found);
                    }
                    Texts.write(directory.path(), out);
                    out.writeBoolean(end == directory.found().size());
                    out.writeInt(end - next);
                    out.write(found.getSharedBuffer(), 0, found.length());
                    next = end;
                    if (out.length() >= FULL_BYTES) {
                        events.add(new WalkEvent(out.getCopyOfBuffer()));
                        out.clear();
                    }
                } while (next < directory.found().size());
            }
        } catch (IOException e) {
            throw new IllegalStateException("an array in memory cannot fail", e);
        }
        if (out.length() > 0) {
            events.add(new WalkEvent(out.getCopyOfBuffer()));
        }
        return events;
    }

    public int length() {
        return bytes.length;
    }

    public List<Part> parts() {
        List<Part> parts = new ArrayList<>();
        DataInputDeserializer in = new DataInputDeserializer(bytes);
        try {
            while (in.available() > 0) {
                String path = Texts.read(in);
                boolean isLast = in.readBoolean();
                int count = in.readInt();
                List<DirectorySplit> found = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    found.add(DirectorySplitSerializer.read(in));
                }
                parts.add(new Part(path, found, isLast));
            }
        } catch (IOException e) {
            throw new IllegalStateException("A walk event cannot be read", e);
        }
        return parts;
    }
}

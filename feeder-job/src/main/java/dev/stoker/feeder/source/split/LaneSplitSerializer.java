package dev.stoker.feeder.source.split;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/** Writes and reads {@link LaneSplit}s and {@link ConsumerEnd}s; version 1. */
public final class LaneSplitSerializer implements SimpleVersionedSerializer<LaneSplit> {

    private static final int VERSION = 1;

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(LaneSplit split) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        write(split, out);
        return out.getCopyOfBuffer();
    }

    @Override
    public LaneSplit deserialize(int version, byte[] bytes) throws IOException {
        requireKnown("lane split", version, VERSION);
        return read(new DataInputDeserializer(bytes));
    }

    /** Appends one split. */
    public static void write(LaneSplit split, DataOutputView out) throws IOException {
        out.writeUTF(split.stream());
        out.writeInt(split.lane());
        writeEnds(split.ends(), out);
    }

    /** Reads one split. */
    public static LaneSplit read(DataInputView in) throws IOException {
        return new LaneSplit(in.readUTF(), in.readInt(), readEnds(in));
    }

    /** Appends a list of ends. */
    public static void writeEnds(List<ConsumerEnd> ends, DataOutputView out) throws IOException {
        out.writeInt(ends.size());
        for (ConsumerEnd end : ends) {
            out.writeUTF(end.stream());
            out.writeUTF(end.group());
            out.writeLong(end.run());
            out.writeLong(end.epoch());
            out.writeInt(end.rank());
            out.writeInt(end.worldSize());
            out.writeInt(end.worker());
            out.writeInt(end.workers());
        }
    }

    /** Reads a list of ends. */
    public static List<ConsumerEnd> readEnds(DataInputView in) throws IOException {
        int count = in.readInt();
        List<ConsumerEnd> ends = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ends.add(new ConsumerEnd(
                    in.readUTF(),
                    in.readUTF(),
                    in.readLong(),
                    in.readLong(),
                    in.readInt(),
                    in.readInt(),
                    in.readInt(),
                    in.readInt()));
        }
        return ends;
    }

    /** Refuses state of a version that this code does not know. */
    public static void requireKnown(String what, int version, int newest) throws IOException {
        if (version < 1 || version > newest) {
            throw new IOException("state of a " + what + " has version " + version + ", this feeder knows 1 to "
                    + newest + "; restore it with the Stoker version that wrote it");
        }
    }
}

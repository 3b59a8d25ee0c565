package dev.stoker.feeder.source.split;

import dev.stoker.server.feed.Identity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/** Writes and reads {@link LaneSplit}s and {@link ConsumerProgress}; version 3. */
public final class LaneSplitSerializer implements SimpleVersionedSerializer<LaneSplit> {

    private static final int VERSION = 3;

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
        writeProgress(split.progress(), out);
    }

    /** Reads one split. */
    public static LaneSplit read(DataInputView in) throws IOException {
        return new LaneSplit(in.readUTF(), in.readInt(), readProgress(in));
    }

    /** Appends a list of progress. */
    public static void writeProgress(List<ConsumerProgress> progress, DataOutputView out) throws IOException {
        out.writeInt(progress.size());
        for (ConsumerProgress known : progress) {
            Identity consumer = known.consumer();
            out.writeUTF(consumer.stream());
            out.writeUTF(consumer.group());
            out.writeLong(consumer.run());
            out.writeInt(consumer.rank());
            out.writeInt(consumer.worldSize());
            out.writeInt(consumer.worker());
            out.writeInt(consumer.workers());
            out.writeInt(consumer.replica());
            out.writeLong(known.epochs());
        }
    }

    /** Reads a list of progress. */
    public static List<ConsumerProgress> readProgress(DataInputView in) throws IOException {
        int count = in.readInt();
        List<ConsumerProgress> progress = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Identity consumer = new Identity(
                    in.readUTF(),
                    in.readUTF(),
                    in.readLong(),
                    in.readInt(),
                    in.readInt(),
                    in.readInt(),
                    in.readInt(),
                    in.readInt());
            progress.add(new ConsumerProgress(consumer, in.readLong()));
        }
        return progress;
    }

    /** Refuses state of a version that this code does not read. */
    public static void requireKnown(String what, int version, int known) throws IOException {
        if (version != known) {
            throw new IOException("state of a " + what + " has version " + version + ", this feeder reads version "
                    + known + "; restore it with the Stoker version that wrote it, or start the feed without it");
        }
    }
}

package dev.stoker.connectors.dataset.sink.writer;

import dev.stoker.connectors.dataset.TopicReportSerializer;
import java.io.IOException;
import java.util.TreeMap;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * The state of a stream's sink between checkpoints.
 *
 * @param before the position of the last version in the topic
 * @param after the position of all reported records
 * @param sinceVersion dead letters since the last version
 * @param deadLetters dead letters of the run
 * @param number of the last version
 */
public record TopicSinkState(
        TreeMap<Integer, Long> before, TreeMap<Integer, Long> after, long sinceVersion, long deadLetters, long number) {

    /** Version 1: the parts in order. */
    public static final class Serializer implements SimpleVersionedSerializer<TopicSinkState> {
        private static final int VERSION = 1;

        @Override
        public int getVersion() {
            return VERSION;
        }

        @Override
        public byte[] serialize(TopicSinkState state) throws IOException {
            DataOutputSerializer out = new DataOutputSerializer(256);
            TopicReportSerializer.writeOffsets(state.before(), out);
            TopicReportSerializer.writeOffsets(state.after(), out);
            out.writeLong(state.sinceVersion());
            out.writeLong(state.deadLetters());
            out.writeLong(state.number());
            return out.getCopyOfBuffer();
        }

        @Override
        public TopicSinkState deserialize(int version, byte[] serialized) throws IOException {
            if (version != VERSION) {
                throw new IOException("The state of a stream's sink has version " + version + ", this code reads "
                        + VERSION + "; start the ingest without state; the dataset has the position");
            }
            DataInputDeserializer in = new DataInputDeserializer(serialized);
            TreeMap<Integer, Long> before = TopicReportSerializer.readOffsets(in);
            TreeMap<Integer, Long> after = TopicReportSerializer.readOffsets(in);
            return new TopicSinkState(before, after, in.readLong(), in.readLong(), in.readLong());
        }
    }
}

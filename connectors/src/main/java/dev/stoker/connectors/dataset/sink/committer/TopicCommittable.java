package dev.stoker.connectors.dataset.sink.committer;

import dev.stoker.connectors.dataset.PackReportSerializer;
import dev.stoker.connectors.dataset.PartIds;
import dev.stoker.connectors.dataset.TopicReportSerializer;
import dev.stoker.schemas.chunk.ChunkSummary;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * A version of a stream.
 *
 * @param ingest id under which the version is committed once
 * @param chunks in the order in which they get their ordinals
 * @param removed keys whose samples the version before loses
 * @param classes the class names used, by categorical field
 * @param before the position in the topic that the dataset must have
 * @param after the position that it has afterwards
 * @param deadLetters records between the two positions that are in no chunk
 */
public record TopicCommittable(
        String ingest,
        List<ChunkSummary> chunks,
        List<String> removed,
        Map<String, SortedSet<String>> classes,
        TreeMap<Integer, Long> before,
        TreeMap<Integer, Long> after,
        long deadLetters) {
    public TopicCommittable {
        chunks = List.copyOf(chunks);
        removed = List.copyOf(removed);
    }

    /** Creates a version that removes nothing. */
    public TopicCommittable(
            String ingest,
            List<ChunkSummary> chunks,
            Map<String, SortedSet<String>> classes,
            TreeMap<Integer, Long> before,
            TreeMap<Integer, Long> after,
            long deadLetters) {
        this(ingest, chunks, List.of(), classes, before, after, deadLetters);
    }

    /** The run of the job that packed the chunks and holds the lease. Another run may commit them. */
    String run() {
        return PartIds.run(ingest);
    }

    /** Version 1: the parts in order. */
    public static final class Serializer implements SimpleVersionedSerializer<TopicCommittable> {
        private static final int VERSION = 1;

        @Override
        public int getVersion() {
            return VERSION;
        }

        @Override
        public byte[] serialize(TopicCommittable committable) throws IOException {
            DataOutputSerializer out =
                    new DataOutputSerializer(256 + 80 * committable.chunks().size());
            out.writeUTF(committable.ingest());
            TopicReportSerializer.writeChunks(committable.chunks(), out);
            TopicReportSerializer.writeKeys(committable.removed(), out);
            PackReportSerializer.writeClasses(committable.classes(), out);
            TopicReportSerializer.writeOffsets(committable.before(), out);
            TopicReportSerializer.writeOffsets(committable.after(), out);
            out.writeLong(committable.deadLetters());
            return out.getCopyOfBuffer();
        }

        @Override
        public TopicCommittable deserialize(int version, byte[] serialized) throws IOException {
            if (version != VERSION) {
                throw new IOException(
                        "A committable of a stream has version " + version + ", this code reads " + VERSION);
            }
            DataInputDeserializer in = new DataInputDeserializer(serialized);
            return new TopicCommittable(
                    in.readUTF(),
                    TopicReportSerializer.readChunks(in),
                    TopicReportSerializer.readKeys(in),
                    PackReportSerializer.readClasses(in),
                    TopicReportSerializer.readOffsets(in),
                    TopicReportSerializer.readOffsets(in),
                    in.readLong());
        }
    }
}

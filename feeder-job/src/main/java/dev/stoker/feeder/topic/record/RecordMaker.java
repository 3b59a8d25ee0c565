package dev.stoker.feeder.topic.record;

import dev.stoker.connectors.kafka.TopicRecord;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.server.StreamContent;
import dev.stoker.server.window.GroupOrder;
import java.io.IOException;
import java.util.List;

/** Makes the records of pieces of batches. One thread. */
public interface RecordMaker extends AutoCloseable {

    /** A record, and what its headers say. */
    record Made(RecordHeader header, TopicRecord record) {}

    /** The maker of what a topic holds of one version. */
    static RecordMaker of(StreamContent content, GroupOrder order, TopicInfo info) {
        return switch (info.values().format()) {
            case ARROW -> new PieceRecords(content, order, info.maxRecordBytes());
            case AVRO -> new SampleRecords(content, order, info);
        };
    }

    /**
     * The records of a lane's piece of a batch, in order.
     *
     * @throws dev.stoker.schemas.errors.CorruptDataException if a sample is damaged and may not be skipped
     * @throws IOException if the origin fails, or a sample is too large for a record
     */
    List<Made> of(EpochOrder epoch, int lane, long number) throws IOException;

    @Override
    void close();
}

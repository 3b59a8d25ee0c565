package dev.stoker.client.topic;

import dev.stoker.client.errors.CorruptBatchException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordPosition;

/**
 * A record of a topic that is intact and in the right partition.
 *
 * @param header its header
 * @param offset its offset
 * @param value its bytes
 */
record VerifiedRecord(RecordHeader header, long offset, byte[] value) {
    /**
     * Checks an entry.
     *
     * @throws CorruptBatchException if the entry is damaged
     * @throws FeedException if it is not of this feed, or in the wrong partition
     */
    static VerifiedRecord of(TopicTarget target, TopicLog.Entry entry) {
        String where = where(target, entry.partition(), entry.offset());
        RecordHeader header;
        try {
            header = RecordHeader.read(entry.headers(), entry.value(), where);
        } catch (CorruptDataException e) {
            throw new CorruptBatchException(ErrorText.of(e));
        } catch (StokerException e) {
            throw new FeedException(ErrorText.of(e), e);
        }
        if (header.lane() != entry.partition()) {
            throw new FeedException(where + ": " + header.position() + " of lane " + header.lane()
                    + " was misrouted to partition " + entry.partition()
                    + "; a program other than the feed wrote it: feed into a new topic");
        }
        return new VerifiedRecord(header, entry.offset(), entry.value());
    }

    static String where(TopicTarget target, int partition, long offset) {
        return target + ", partition " + partition + ", offset " + offset;
    }

    RecordPosition position() {
        return header.position();
    }
}
